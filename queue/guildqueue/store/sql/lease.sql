-- A worker's writes. Every one names the fencing token and the principal and changes nothing
-- where they are no longer the job's.

-- name: extend_lease
-- A heartbeat: heap-only, as no index mentions these columns but lost_at, which hardly ever changes.
UPDATE guildqueue_job
   SET lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s),
       progress = coalesce(%(progress)s::float8, progress), lost_at = NULL
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
RETURNING lease_expires_at;

-- name: read_lease_state
-- Why a worker's write changed nothing.
SELECT state, token FROM guildqueue_job WHERE id = %(job_id)s;

-- name: read_job_guild
SELECT guild_id FROM guildqueue_job WHERE id = %(job_id)s;

-- name: lock_with_dependents
-- Locks: the job and all that need it, FOR NO KEY UPDATE in ascending id. The caller shares the
-- needs lock, so no dependency appears meanwhile.
SELECT id
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND id = ANY (ARRAY(SELECT job_id FROM guildqueue_job_dependency
                        WHERE needs_id = %(job_id)s) || %(job_id)s::bigint)
 ORDER BY id
   FOR NO KEY UPDATE;

-- name: complete_job
-- End the job and count it off wherever it is needed. The rows are locked already.
WITH ended AS (
    UPDATE guildqueue_job
       SET state = 'done', progress = 1, result = %(result)s::jsonb, error = NULL,
           audio_seconds = coalesce(%(audio_seconds)s::float8, audio_seconds),
           bump_seq = NULL, bump_named = false, lease_by = NULL, lease_expires_at = NULL,
           finished_at = clock_timestamp()
     WHERE guild_id = %(guild_id)s AND id = %(job_id)s
       AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
    RETURNING id
),
counted_off AS (
    UPDATE guildqueue_job AS job
       SET unmet = job.unmet - 1
      FROM guildqueue_job_dependency AS dependency, ended
     WHERE dependency.needs_id = ended.id
       AND job.id = dependency.job_id
       AND job.guild_id = %(guild_id)s
)
SELECT id FROM ended;

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
