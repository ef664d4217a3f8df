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
-- A lease lost at the last attempt ends the job.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED, as a worker may be writing to it; nobody is waited for, so
-- the order is free to be that of the index, job_running_guild.
WITH lost AS MATERIALIZED (
    SELECT id
      FROM guildqueue_job
     WHERE state = 'running'
       AND lease_expires_at < clock_timestamp()
       AND attempt >= max_attempts
     ORDER BY guild_id, bump_seq, priority, id
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE guildqueue_job
   SET state = 'dead', bump_seq = NULL, bump_named = false,
       error = 'the worker ' || lease_by || ' was lost at attempt ' || attempt || ' of '
               || max_attempts,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE id = ANY (ARRAY(SELECT id FROM lost));

-- name: is_overdue
-- Whether time has made anything claimable, or dead, that no claim knows of yet. Cost grows with what
-- runs, as no index holds the end of a lease. Index: job_running_guild, job_claim_deferred.
SELECT EXISTS (SELECT FROM guildqueue_job
                WHERE state = 'running' AND lease_expires_at < statement_timestamp()
                  AND (lost_at IS NULL OR attempt >= max_attempts))
       OR EXISTS (SELECT FROM guildqueue_job
                   WHERE state = 'pending' AND unmet = 0 AND NOT held
                     AND run_after <= statement_timestamp()) AS is_overdue;

-- name: try_lock_overdue
-- One looks at a time; who only looks ahead goes on without.
SELECT pg_try_advisory_xact_lock(hashtextextended('guildqueue.overdue', 0)) AS is_locked;

-- name: lock_overdue
SELECT pg_advisory_xact_lock(hashtextextended('guildqueue.overdue', 0));

-- name: notice_lost
-- Mark the leases that ran out, so that a claim finds them without looking at all that runs.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED. Index: job_running_guild.
UPDATE guildqueue_job SET lost_at = clock_timestamp()
 WHERE id = ANY (ARRAY(
    SELECT id FROM guildqueue_job
     WHERE state = 'running' AND lost_at IS NULL AND lease_expires_at < clock_timestamp()
     ORDER BY guild_id, bump_seq, priority, id
       FOR NO KEY UPDATE SKIP LOCKED));

-- name: flag_lost
-- Let claims look for what comes out of turn: leases were noticed to be lost.
SELECT guildqueue_flag_lost();

-- name: lock_due_marks
-- The guilds with jobs that became due, in the lane or outside (:is_lane); of the lane one at a time,
-- as the lane's mark is locked after a guild's. Locks: their marks, in ascending id, before the jobs,
-- which are not waited for. Index: job_claim_deferred.
SELECT guild_id, pg_advisory_xact_lock(hashtextextended('guildqueue.mark:' || guild_id, 0))
  FROM (SELECT DISTINCT guild_id FROM guildqueue_job
         WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after <= clock_timestamp()
           AND (bump_seq IS NOT NULL) = %(is_lane)s
         ORDER BY guild_id
         LIMIT CASE WHEN %(is_lane)s THEN 1 END) AS due;

-- name: stop_deferring
-- What became due joins its line for good. Locks: FOR NO KEY UPDATE SKIP LOCKED.
-- Index: job_claim_deferred.
UPDATE guildqueue_job SET run_after = NULL
 WHERE id = ANY (ARRAY(
    SELECT id FROM guildqueue_job
     WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after <= clock_timestamp()
       AND guild_id = ANY (%(guilds)s::bigint[])
       AND (bump_seq IS NOT NULL) = %(is_lane)s
     ORDER BY run_after
     LIMIT 10000
       FOR NO KEY UPDATE SKIP LOCKED));

-- name: settle_marks
-- In a transaction that goes on, what it made claimable so far counts for the claim that follows.
SET CONSTRAINTS job_became_claimable, arrival_became_claimable IMMEDIATE;

-- name: defer_marks
-- What it does after that waits for its end again, as the mark's lock is the last.
SET CONSTRAINTS job_became_claimable, arrival_became_claimable DEFERRED;

-- part: claimed_in_turns
-- Up to :count jobs in turn; see the function, which holds its plans to the indexes itself.
       guildqueue_claim_in_turns_1(
       %(principal)s, %(filter_hash)s, %(request_id)s, %(count)s::int, %(ttl_s)s::float8,
       %(default_cap)s::int, %(kinds)s::text[], %(assignee_kind)s, %(guilds)s::bigint[],
       %(labels)s::text[], %(any_labels)s::text[], %(min_priority)s::bigint,
       %(max_priority)s::bigint, %(session)s::bigint)

-- name: claim_in_turns
-- Returns: one row a claimed job, in the order of their taking.
SELECT
-- include: job_columns
       job.needs
  FROM
-- include: claimed_in_turns
       AS job;

-- name: be_patient
-- How long the transaction waits for any one lock.
SELECT set_config('lock_timeout', %(limit_s)s::text || 's', true);

-- part: in_scope
-- What a filter lets through, of the columns of a job: the one spelling of it, for claims, for what
-- comes before them and for what counts or lists what they would take. Null restricts nothing.
       (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s::text[]))
       AND (%(assignee_kind)s::text IS NULL OR assignee_kind = %(assignee_kind)s::text)
       AND (%(guilds)s::bigint[] IS NULL OR guild_id = ANY (%(guilds)s::bigint[]))
       AND (%(labels)s::text[] IS NULL OR labels @> %(labels)s::text[])
       AND (%(any_labels)s::text[] IS NULL OR labels && %(any_labels)s::text[])
       AND (%(min_priority)s::bigint IS NULL OR priority >= %(min_priority)s::bigint)
       AND (%(max_priority)s::bigint IS NULL OR priority <= %(max_priority)s::bigint)
       AND (%(session)s::bigint IS NULL OR session_id = %(session)s::bigint)

-- part: holds_slot
-- Whether a running job keeps its slot. For a claim all do: it buries what was lost for good before
-- it counts. Who only reads counts as the next claim will (:buries).
       running.state = 'running'
       AND NOT (%(buries)s AND running.lease_expires_at < statement_timestamp()
                AND running.attempt >= running.max_attempts)

-- part: free_slots
-- How many more jobs of the guild may run, null without a cap. Exact only while its row is locked.
       CASE WHEN coalesce(guild.running_cap, %(default_cap)s::int) IS NOT NULL
            THEN coalesce(guild.running_cap, %(default_cap)s::int)
                 - (SELECT count(*) FROM guildqueue_job AS running
                     WHERE running.guild_id = guild.id AND
-- include: holds_slot
                   ) END

-- part: guild_has_slot
-- Whether one more job of the guild may run.
       coalesce((
-- include: free_slots
       ) > 0, true)

-- part: full_guilds
-- The guilds without a free slot, from what runs, so that guilds without running jobs cost nothing.
-- Index: job_running_guild.
       SELECT running.guild_id FROM guildqueue_job AS running
        WHERE
-- include: holds_slot
        GROUP BY running.guild_id
       HAVING count(*) >= (SELECT coalesce(guild.running_cap, %(default_cap)s::int)
                             FROM guildqueue_guild AS guild WHERE guild.id = running.guild_id)

-- part: line
-- The candidates that may run now. Three arms, each in index order, to be merged, so that nothing is
-- sorted but what became due: never deferred; deferred and due (by run_after, so that what is not due
-- yet costs nothing); lease expired, which keeps its slot and needs no other.
line AS NOT MATERIALIZED (
    (SELECT id, guild_id, kind, state, bump_seq, priority FROM candidate
      WHERE has_slot AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, guild_id, kind, state, bump_seq, priority
       FROM (SELECT id, guild_id, kind, state, bump_seq, priority FROM candidate
              WHERE has_slot AND state = 'pending' AND unmet = 0 AND NOT held
                AND run_after <= statement_timestamp()
              ORDER BY run_after OFFSET 0) AS due
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, guild_id, kind, state, bump_seq, priority FROM candidate
      WHERE state = 'running' AND unmet = 0 AND NOT held
        AND lease_expires_at < statement_timestamp() AND attempt < max_attempts
      ORDER BY bump_seq, priority, id)
),

-- part: take_in_line
-- Up to :count of the line, in the order lane, priority, id. It is
-- read without a lock; LIMIT stands above LockRows, so a row that others hold is passed over and
-- the next one in order is taken.
-- Locks: FOR NO KEY UPDATE SKIP LOCKED. NO KEY, so that a dependency row just being inserted for
-- the head (its foreign key holds KEY SHARE) does not hide the head from a claim.
-- The WHERE at the job repeats what the arms say, for a row that changed before it was locked; one
-- that left its arm has lost its slot with it. It is a CASE, in which the planner sees no state: it
-- would look the id up in job_outstanding.
-- Run after pin_plans. Cost: one heap row for each candidate that the filter keeps back ahead of
-- the head, and for each running one.
-- Returns: one row a claimed job, in no particular order.
taken AS MATERIALIZED (
    SELECT job.id
      FROM (SELECT id, state, bump_seq, priority FROM line ORDER BY bump_seq, priority, id) AS line
      JOIN guildqueue_job AS job ON job.id = line.id
     WHERE NOT job.held AND job.unmet = 0
       AND CASE
           WHEN line.state = 'pending' AND job.state = 'pending'
           THEN job.run_after IS NULL OR job.run_after <= statement_timestamp()
           WHEN line.state = 'running' AND job.state = 'running'
           THEN job.lease_expires_at < statement_timestamp() AND job.attempt < job.max_attempts
           ELSE false END
     ORDER BY line.bump_seq, line.priority, line.id
     LIMIT %(count)s
       FOR NO KEY UPDATE OF job SKIP LOCKED
),
claimed AS (
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lost_at = NULL, lease_by = %(principal)s,
           request_id = %(request_id)s, started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s)
     WHERE job.id = ANY (ARRAY(SELECT id FROM taken))
    RETURNING job.*
)
-- Not ordered: for that, pinned plans would read all of the index on needs_id.
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id) AS needs
  FROM claimed AS job;

-- name: read_request
-- What a request id was given, as far as it is still leased. Index: job_request.
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id) AS needs
  FROM guildqueue_job AS job
 WHERE lease_by = %(principal)s AND request_id = %(request_id)s AND state = 'running'
   AND lease_expires_at > clock_timestamp();

-- part: locked_or_uncapped
-- Whether a job of that guild may be started here: its guild has no cap, or this transaction locked
-- the guild's row (:locked) and a slot is free.
       (guild_id = ANY (ARRAY(SELECT guild.id FROM guildqueue_guild AS guild
                               WHERE guild.id = ANY (%(locked)s::bigint[]) AND
-- include: guild_has_slot
                             ))
        OR (%(default_cap)s::int IS NULL
            AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild
                                        WHERE running_cap IS NOT NULL))))

-- name: claim_jobs
-- One order for the whole deployment.
-- Index: job_claim, job_claim_deferred, job_running_guild, guild_held, guild_capped.
WITH candidate AS NOT MATERIALIZED (
    SELECT job.*,
-- include: locked_or_uncapped
           AS has_slot
      FROM guildqueue_job AS job
     WHERE guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND
-- include: in_scope
),
-- include: line
-- include: take_in_line
