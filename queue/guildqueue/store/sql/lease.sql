-- A worker's writes. Every one names the fencing token and the principal and changes nothing
-- where they are no longer the job's.

-- name: extend_lease
-- A heartbeat: heap-only, as no index mentions these columns but lost_at, which hardly ever changes.
UPDATE guildqueue_job
   SET lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s),
       progress = coalesce(%(progress)s::float8, progress), lost_at = NULL
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
RETURNING lease_expires_at;

-- name: extend_leases
-- Heartbeats of many jobs, with a token each. Locks: their rows; those that others hold locked are
-- passed over, so that none costs the others their leases. Index: the primary key.
-- Returns: the ids of those that were extended.
WITH held AS (
    SELECT job.id, given.progress
      FROM unnest(%(jobs)s::bigint[], %(tokens)s::bigint[], %(progress)s::float8[])
             AS given (id, token, progress)
      JOIN guildqueue_job AS job USING (id)
     WHERE job.state = 'running' AND job.token = given.token AND job.lease_by = %(principal)s
       FOR NO KEY UPDATE OF job SKIP LOCKED
)
UPDATE guildqueue_job AS job
   SET lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s),
       progress = coalesce(held.progress, job.progress), lost_at = NULL
  FROM held
 WHERE job.id = held.id
RETURNING job.id;

-- name: read_lease_state
-- Why a worker's write changed nothing.
SELECT state, token FROM guildqueue_job WHERE id = %(job_id)s;

-- name: read_job_guild
SELECT guild_id FROM guildqueue_job WHERE id = %(job_id)s;

-- part: completed
-- Each of the jobs, whether it was ended, and whether others need it; see the function.
       guildqueue_complete_jobs_1(
       %(principal)s, %(jobs)s::bigint[], %(tokens)s::bigint[], %(results)s::jsonb[],
       %(audio_seconds)s::float8[])

-- name: complete_jobs
SELECT id, is_done, is_needed
  FROM
-- include: completed
;

-- name: complete_and_claim
-- One commit for a job that ends and the next that begins: the left side of the join is run first.
-- Returns: one row a claimed job, in the order of their taking, or one without a job.
SELECT completed.refused, completed.is_needed,
-- include: job_columns
       job.needs
  FROM (SELECT coalesce(array_agg(id) FILTER (WHERE NOT is_done), '{}') AS refused,
               bool_or(is_needed) AS is_needed
          FROM
-- include: completed
       ) AS completed
  LEFT JOIN
-- include: claimed_in_turns
         AS job ON true;

-- name: lock_lease
-- Locks: the job's row, if token and principal hold its lease.
SELECT attempt, max_attempts
  FROM guildqueue_job
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
   FOR NO KEY UPDATE;

-- name: retry_job
-- Back into its own place in line, not before the delay has passed. A retry keeps the lane.
UPDATE guildqueue_job
   SET state = 'pending', progress = 0, error = %(error)s, lease_by = NULL,
       lease_expires_at = NULL,
       run_after = clock_timestamp() + make_interval(secs => %(delay_s)s)
 WHERE id = %(job_id)s;

-- name: bury_job
UPDATE guildqueue_job
   SET state = 'dead', error = %(error)s, bump_seq = NULL, bump_named = false,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE id = %(job_id)s;

-- name: release_job
-- Hand the job back untouched: the attempt does not count.
UPDATE guildqueue_job
   SET state = 'pending', progress = 0, attempt = attempt - 1, lease_by = NULL,
       lease_expires_at = NULL, started_at = NULL
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
RETURNING id;
