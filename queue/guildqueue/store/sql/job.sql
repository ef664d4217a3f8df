-- part: job_columns
-- What is read of a job, its columns by name: the plan of a prepared ``job.*`` fails from the moment
-- at which a newer release adds a column, and outside a transaction it fails for good.
       job.id, job.guild_id, job.session_id, job.kind, job.assignee_kind, job.state, job.priority,
       job.bump_seq, job.bump_named, job.unmet, job.held, job.run_after, job.attempt,
       job.max_attempts, job.token, job.lease_by, job.lease_expires_at, job.progress, job.labels,
       job.payload, job.result, job.error, job.audio_seconds, job.external_id, job.created_at,
       job.started_at, job.finished_at,

-- name: insert_tracks
-- One transcribe job a track, ids rising in the order given. Returns the ids, ascending.
WITH inserted AS (
    INSERT INTO guildqueue_job (
        guild_id, session_id, kind, priority, held, payload, audio_seconds, max_attempts)
    SELECT %(guild_id)s, %(session_id)s, 'transcribe', %(priority)s, %(held)s, track.payload,
           track.audio_seconds, %(max_attempts)s
      FROM unnest(%(payloads)s::jsonb[], %(audio_seconds)s::float8[]) WITH ORDINALITY
           AS track (payload, audio_seconds, place)
     ORDER BY place
    RETURNING id
)
SELECT id FROM inserted ORDER BY id;

-- name: insert_document
INSERT INTO guildqueue_job (guild_id, session_id, kind, priority, held, payload, max_attempts)
VALUES (%(guild_id)s, %(session_id)s, 'document', %(priority)s, %(held)s, %(payload)s::jsonb,
        %(max_attempts)s)
RETURNING id;

-- name: insert_needs
-- Locks: KEY SHARE on the needed rows (foreign key), which no claim and no completion waits for.
INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)
SELECT %(guild_id)s, %(job_id)s, needs_id FROM unnest(%(needs)s::bigint[]) AS needs_id
ON CONFLICT (job_id, needs_id) DO NOTHING;

-- name: delete_need
DELETE FROM guildqueue_job_dependency
 WHERE guild_id = %(guild_id)s AND job_id = ANY (%(job_ids)s::bigint[])
   AND needs_id = %(needs_id)s;

-- name: recount_needs
-- Count afresh what the jobs still wait for. Run under the needs lock.
UPDATE guildqueue_job AS job
   SET unmet = (SELECT count(*)
                  FROM guildqueue_job_dependency AS dependency
                  JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
                 WHERE dependency.job_id = job.id AND needed.state <> 'done')
 WHERE job.guild_id = %(guild_id)s
   AND job.id = ANY (%(job_ids)s::bigint[]);

-- name: read_session_jobs
-- All jobs of a session, ascending. Index: job_session.
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency
              WHERE job_id = job.id ORDER BY needs_id) AS needs
  FROM guildqueue_job AS job
 WHERE job.guild_id = %(guild_id)s AND job.session_id = %(session_id)s
 ORDER BY job.id;

-- name: read_job
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency
              WHERE job_id = job.id ORDER BY needs_id) AS needs
  FROM guildqueue_job AS job
 WHERE job.guild_id = %(guild_id)s AND job.id = %(job_id)s;

-- name: read_inputs
-- The jobs that this one needs and that are done, ascending.
SELECT needed.id, needed.payload, needed.result
  FROM guildqueue_job_dependency AS dependency
  JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
 WHERE dependency.job_id = %(job_id)s AND needed.state = 'done'
 ORDER BY needed.id;

-- name: read_dependents
-- What must run again when the jobs do: all that need them, transitively, through jobs that
-- ended or run (is_reopened), and the pending ones that only wait longer.
WITH RECURSIVE affected (id, state) AS (
    SELECT id, state FROM guildqueue_job
     WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[])
    UNION
    SELECT job.id, job.state
      FROM affected
      JOIN guildqueue_job_dependency AS dependency ON dependency.needs_id = affected.id
      JOIN guildqueue_job AS job ON job.id = dependency.job_id
     WHERE affected.state <> 'pending' AND job.guild_id = %(guild_id)s
)
SELECT id, state <> 'pending' AS is_reopened
  FROM affected
 WHERE id <> ALL (%(job_ids)s::bigint[])
 ORDER BY id;

-- name: lock_jobs
-- Locks: the rows FOR NO KEY UPDATE in ascending id. Returns their states once locked.
SELECT id, state FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[])
 ORDER BY id
   FOR NO KEY UPDATE;

-- name: lock_outstanding
-- Locks: the session's outstanding rows FOR NO KEY UPDATE in ascending id.
SELECT id, state FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND session_id = %(session_id)s
   AND state IN ('pending', 'running')
 ORDER BY id
   FOR NO KEY UPDATE;

-- name: hold_jobs
-- The session's hold, written on every outstanding job so that a claim need not look it up.
UPDATE guildqueue_job SET held = %(held)s
 WHERE guild_id = %(guild_id)s AND session_id = %(session_id)s
   AND state IN ('pending', 'running') AND held <> %(held)s;

-- name: cancel_jobs
-- End them now, running ones too; their workers learn it at the next heartbeat.
UPDATE guildqueue_job
   SET state = 'cancelled', bump_seq = NULL, bump_named = false, lease_by = NULL,
       lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[])
   AND state IN ('pending', 'running')
RETURNING id;

-- name: reopen_jobs
-- Back to pending with all attempts, each at its own session's number (see read_session_number) and
-- under its hold: what was built on a target may be another session's. The result of the last run
-- stays readable until the next one. The caller holds the order lock. Index: job_session.
UPDATE guildqueue_job AS job
   SET state = 'pending', priority = place.priority, held = place.held, attempt = 0, progress = 0,
       error = NULL, run_after = NULL, lease_by = NULL, lease_expires_at = NULL,
       started_at = NULL, finished_at = NULL, last_ended_at = coalesce(finished_at, last_ended_at)
  FROM (SELECT session.id, session.held_at IS NOT NULL AS held,
               (SELECT coalesce(max(priority) FILTER (WHERE state IN ('pending', 'running')),
                                max(priority))
                  FROM guildqueue_job
                 WHERE guild_id = %(guild_id)s AND session_id = session.id) AS priority
          FROM guildqueue_session AS session
         WHERE session.id = ANY (ARRAY(SELECT session_id FROM guildqueue_job
                                        WHERE id = ANY (%(job_ids)s::bigint[])))) AS place
 WHERE job.guild_id = %(guild_id)s AND job.id = ANY (%(job_ids)s::bigint[])
   AND job.session_id = place.id
   AND job.state IN ('done', 'dead', 'cancelled', 'running')
RETURNING job.id;

-- name: read_unfolded
-- Guilds with many counting steps. Index: guild_count_guild, all of it.
SELECT guild_id FROM guildqueue_guild_count
 GROUP BY guild_id HAVING count(*) >= %(n_steps)s ORDER BY guild_id;

-- name: fold_counters
-- Put a guild's counting steps into one row a state. Only rows that are gone are put back, so
-- a step that commits meanwhile is neither lost nor counted twice.
WITH folded AS (
    DELETE FROM guildqueue_guild_count
     WHERE id IN (SELECT id FROM guildqueue_guild_count WHERE guild_id = %(guild_id)s
                   ORDER BY id FOR UPDATE SKIP LOCKED)
    RETURNING state, delta
)
INSERT INTO guildqueue_guild_count (guild_id, state, delta)
SELECT %(guild_id)s, state, sum(delta) FROM folded GROUP BY state HAVING sum(delta) <> 0;

-- name: read_session_detail
-- All jobs of a session with why each waits and who leases it, ascending. Index: job_session.
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency
              WHERE job_id = job.id ORDER BY needs_id) AS needs,
-- include: waits_for
       AS reason
  FROM guildqueue_job AS job
  JOIN guildqueue_guild AS guild ON guild.id = job.guild_id
 CROSS JOIN (SELECT count(*) AS n_running FROM guildqueue_job
              WHERE guild_id = %(guild_id)s AND state = 'running') AS totals
 WHERE job.guild_id = %(guild_id)s AND job.session_id = %(session_id)s
 ORDER BY job.id;
