-- name: pin_plans
-- Hold the transaction's plans to the indexes named below. The planner knows neither how few rows
-- a claim wants nor, in a worker that began on an empty table, how many rows there are: left to
-- itself it sorts the whole queue (7 ms at 20,000 waiting, 0.3 ms so). A generic plan is made once
-- a connection. Until the end of the transaction, so that it works behind a transaction pooler.
SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_sort', 'off', true), set_config('enable_hashagg', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
       set_config('enable_material', 'off', true), set_config('enable_memoize', 'off', true);

-- name: bury_lost_jobs
-- A lease lost at the last attempt ends the job, in the next claim that meets it.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED, as another claim may be burying the same one; it waits for
-- nobody, so the order is free to be the index's. Index: job_running; cost grows with what runs.
WITH lost AS MATERIALIZED (
    SELECT id
      FROM guildqueue_job
     WHERE state = 'running'
       AND lease_expires_at < clock_timestamp()
       AND attempt >= max_attempts
     ORDER BY bump_seq, priority, id
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE guildqueue_job
   SET state = 'dead', bump_seq = NULL, bump_named = false,
       error = 'the worker ' || lease_by || ' was lost at attempt ' || attempt || ' of '
               || max_attempts,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE id = ANY (ARRAY(SELECT id FROM lost));

-- part: take_in_line
-- The part that every claim shares: up to :count of its candidates, in the order lane, priority, id.
-- Three arms, each in index order and merged, so that nothing is sorted but what became due: never
-- deferred; deferred and due (by run_after, so that what is not due yet costs nothing); lease
-- expired. They are read without a lock; LIMIT stands above LockRows, so a row that others hold is
-- passed over and the next one in order is taken.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED. NO KEY, so that a dependency row just being inserted for
-- the head (its foreign key holds KEY SHARE) does not hide the head from a claim.
-- The WHERE at the job repeats what the arms say, for a row that changed before it was locked; as a
-- CASE, in which the planner sees no state: it would look the id up in job_outstanding.
-- Run after pin_plans. Cost: one heap row for each candidate that the filter keeps back ahead of
-- the head, and for each running one.
-- Returns: one row a claimed job, in no particular order.
line AS (
    (SELECT id, bump_seq, priority FROM candidate
      WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority
       FROM (SELECT id, bump_seq, priority FROM candidate
              WHERE state = 'pending' AND unmet = 0 AND NOT held
                AND run_after <= statement_timestamp()
              ORDER BY run_after OFFSET 0) AS due
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority FROM candidate
      WHERE state = 'running' AND lease_expires_at < statement_timestamp()
        AND attempt < max_attempts
      ORDER BY bump_seq, priority, id)
),
taken AS MATERIALIZED (
    SELECT job.id
      FROM (SELECT id, bump_seq, priority FROM line ORDER BY bump_seq, priority, id) AS line
      JOIN guildqueue_job AS job ON job.id = line.id
     WHERE NOT job.held AND job.unmet = 0
       AND CASE job.state
           WHEN 'pending' THEN job.run_after IS NULL OR job.run_after <= statement_timestamp()
           WHEN 'running' THEN job.lease_expires_at < statement_timestamp()
                               AND job.attempt < job.max_attempts
           ELSE false END
     ORDER BY line.bump_seq, line.priority, line.id
     LIMIT %(count)s
       FOR NO KEY UPDATE OF job SKIP LOCKED
),
claimed AS (
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lease_by = %(principal)s, started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s)
     WHERE job.id = ANY (ARRAY(SELECT id FROM taken))
    RETURNING job.*
)
-- Not ordered: for that, pinned plans would read all of the index on needs_id.
SELECT claimed.*,
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = claimed.id) AS needs
  FROM claimed;

-- name: claim_jobs
-- One order for the whole deployment. Index: job_claim, job_claim_deferred, job_running, guild_held.
WITH candidate AS NOT MATERIALIZED (
    SELECT id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at, attempt,
           max_attempts
      FROM guildqueue_job
     WHERE kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
       AND (%(guilds)s::bigint[] IS NULL OR guild_id = ANY (%(guilds)s::bigint[]))
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
),
-- include: take_in_line

-- name: claim_lane
-- The jobs that run next, of all guilds in scope. Index: the head of job_claim, where bump_seq is
-- not null; job_claim_deferred, job_running, guild_held.
WITH candidate AS NOT MATERIALIZED (
    SELECT id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at, attempt,
           max_attempts
      FROM guildqueue_job
     WHERE bump_seq IS NOT NULL
       AND kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
       AND (%(guilds)s::bigint[] IS NULL OR guild_id = ANY (%(guilds)s::bigint[]))
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
),
-- include: take_in_line

-- name: claim_turn
-- The guild whose turn it is. Index: job_turn, job_claim_deferred, job_running.
WITH candidate AS NOT MATERIALIZED (
    SELECT id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at, attempt,
           max_attempts
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s
       AND kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
),
-- include: take_in_line

-- name: find_turn
-- The first guild above :last, else the first of all, that is not held, not :passed and has a
-- claimable job, locked by others or not. Locks: none. Run after pin_plans.
-- Index: the guild's primary key and job_turn for each guild looked at; job_claim_deferred and
-- job_running once for all of them.
WITH became_claimable AS NOT MATERIALIZED (
    SELECT guild_id FROM guildqueue_job
     WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after <= statement_timestamp()
       AND kind = ANY (%(kinds)s::text[]) AND assignee_kind = 'worker'
    UNION ALL
    SELECT guild_id FROM guildqueue_job
     WHERE state = 'running' AND NOT held AND unmet = 0
       AND lease_expires_at < statement_timestamp() AND attempt < max_attempts
       AND kind = ANY (%(kinds)s::text[]) AND assignee_kind = 'worker'
),
eligible AS NOT MATERIALIZED (
    SELECT guild.id
      FROM guildqueue_guild AS guild
     WHERE guild.held_at IS NULL
       AND guild.id <> ALL (%(passed)s::bigint[])
       AND (%(guilds)s::bigint[] IS NULL OR guild.id = ANY (%(guilds)s::bigint[]))
       AND (EXISTS (SELECT FROM guildqueue_job AS job
                     WHERE job.guild_id = guild.id
                       AND job.state = 'pending' AND job.unmet = 0 AND NOT job.held
                       AND job.run_after IS NULL
                       AND job.kind = ANY (%(kinds)s::text[]) AND job.assignee_kind = 'worker')
            OR guild.id = ANY (ARRAY(SELECT guild_id FROM became_claimable)))
)
(SELECT id AS guild_id FROM eligible WHERE id > %(last)s::bigint ORDER BY id LIMIT 1)
UNION ALL
(SELECT id AS guild_id FROM eligible WHERE id <= %(last)s::bigint ORDER BY id LIMIT 1)
LIMIT 1;

-- name: read_cursor
-- The guild of the last turn. Index: claim_cursor_newest.
SELECT guild_id
  FROM guildqueue_claim_cursor
 WHERE principal = %(principal)s AND filter_hash = %(filter_hash)s
 ORDER BY id DESC
 LIMIT 1;

-- name: append_cursor
-- The turn just taken. Nothing is locked: two claims of one principal may read the same cursor, and
-- one of them loses its turn, never its job.
INSERT INTO guildqueue_claim_cursor (principal, filter_hash, guild_id)
VALUES (%(principal)s, %(filter_hash)s, %(guild_id)s);

-- name: prune_cursors
-- Drop what stands behind a newer row, and what nobody used for 30 days.
-- Locks: FOR UPDATE SKIP LOCKED, as several workers prune. Index: claim_cursor_newest.
DELETE FROM guildqueue_claim_cursor
 WHERE id IN (SELECT cursor.id
                FROM guildqueue_claim_cursor AS cursor
               WHERE cursor.claimed_at < statement_timestamp() - interval '30 days'
                  OR EXISTS (SELECT FROM guildqueue_claim_cursor AS newer
                              WHERE newer.principal = cursor.principal
                                AND newer.filter_hash = cursor.filter_hash
                                AND newer.id > cursor.id)
               ORDER BY cursor.id
               LIMIT 10000
                 FOR UPDATE SKIP LOCKED);

-- name: find_guild_with_work
-- A guild outside :waited with a claimable job, also one that others have locked: what tells "all of
-- it is being written just now" from "there is nothing". Locks: none.
-- Index: job_claim, job_claim_deferred, job_running, guild_held. Run after pin_plans.
WITH candidate AS NOT MATERIALIZED (
    SELECT id, guild_id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at,
           attempt, max_attempts
      FROM guildqueue_job
     WHERE kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
       AND (%(guilds)s::bigint[] IS NULL OR guild_id = ANY (%(guilds)s::bigint[]))
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND guild_id <> ALL (%(waited)s::bigint[])
)
(SELECT guild_id FROM candidate
  WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
  ORDER BY bump_seq, priority, id LIMIT 1)
UNION ALL
(SELECT guild_id FROM candidate
  WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after <= statement_timestamp()
  ORDER BY run_after LIMIT 1)
UNION ALL
(SELECT guild_id FROM candidate
  WHERE state = 'running' AND lease_expires_at < statement_timestamp() AND attempt < max_attempts
  ORDER BY bump_seq, priority, id LIMIT 1)
LIMIT 1;
