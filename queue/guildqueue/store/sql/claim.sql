-- name: bury_lost_jobs
-- A lease lost at the last attempt ends the job, in the next claim that meets it.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED, as another claim may be burying the same one.
-- Index: job_running.
WITH lost AS MATERIALIZED (
    SELECT id
      FROM guildqueue_job
     WHERE state = 'running'
       AND lease_expires_at < clock_timestamp()
       AND attempt >= max_attempts
     ORDER BY id
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE guildqueue_job AS job
   SET state = 'dead', bump_seq = NULL, bump_named = false,
       error = 'the worker ' || lease_by || ' was lost at attempt ' || attempt || ' of '
               || max_attempts,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
  FROM lost
 WHERE job.id = lost.id;

-- name: claim_jobs
-- Take up to :count claimable jobs in the order lane, priority, id.
-- Three arms, each in index order and merged, so that nothing is sorted but what became due:
-- never deferred, deferred and due, lease expired. They are read without a lock; LIMIT stands
-- above LockRows, so a row that others hold is passed over and the next one in order is taken.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED. NO KEY, so that a dependency row just being inserted for
-- the head (its foreign key holds KEY SHARE) does not hide the head from a claim.
-- The WHERE at the job repeats what the arms say, for a row that changed before it was locked.
-- Index: job_claim, job_claim_deferred, job_running.
-- Returns: one row a claimed job, in claim order.
WITH line AS (
    (SELECT id, bump_seq, priority FROM guildqueue_job
      WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority FROM guildqueue_job
      WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NOT NULL
        AND run_after <= statement_timestamp()
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority FROM guildqueue_job
      WHERE state = 'running' AND lease_expires_at < statement_timestamp()
      ORDER BY bump_seq, priority, id)
),
taken AS MATERIALIZED (
    SELECT job.id
      FROM (SELECT id, bump_seq, priority FROM line ORDER BY bump_seq, priority, id) AS line
      JOIN guildqueue_job AS job ON job.id = line.id
      JOIN guildqueue_guild AS guild ON guild.id = job.guild_id AND guild.held_at IS NULL
     WHERE NOT job.held AND job.unmet = 0
       AND job.kind = ANY (%(kinds)s::text[])
       AND job.assignee_kind = 'worker'
       AND (%(guilds)s::bigint[] IS NULL OR job.guild_id = ANY (%(guilds)s::bigint[]))
       AND ((job.state = 'pending'
             AND (job.run_after IS NULL OR job.run_after <= statement_timestamp()))
            OR (job.state = 'running' AND job.lease_expires_at < statement_timestamp()
                AND job.attempt < job.max_attempts))
     ORDER BY line.bump_seq, line.priority, line.id
     LIMIT %(count)s
       FOR NO KEY UPDATE OF job SKIP LOCKED
),
claimed AS (
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lease_by = %(principal)s, started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s)
      FROM taken
     WHERE job.id = taken.id
    RETURNING job.*
)
SELECT claimed.*,
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency
              WHERE job_id = claimed.id ORDER BY needs_id) AS needs
  FROM claimed
 ORDER BY bump_seq, priority, id;
