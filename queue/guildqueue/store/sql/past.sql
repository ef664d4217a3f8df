-- name: backdate_session
UPDATE guildqueue_session SET created_at = %(created_at)s
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s;

-- name: backdate_session_jobs
-- Locks: the session's jobs. Index: job_session.
UPDATE guildqueue_job SET created_at = %(created_at)s
 WHERE guild_id = %(guild_id)s AND session_id = %(session_id)s;

-- name: backdate_jobs
-- When jobs that ended were begun and ended; one that is outstanding is left alone.
UPDATE guildqueue_job AS job
   SET started_at = ended.started_at, finished_at = ended.finished_at
  FROM unnest(%(job_ids)s::bigint[], %(started_at)s::timestamptz[],
              %(finished_at)s::timestamptz[]) AS ended (job_id, started_at, finished_at)
 WHERE job.id = ended.job_id
   AND job.guild_id = %(guild_id)s
   AND job.finished_at IS NOT NULL;

-- name: lock_emptiness
-- For whoever fills an empty database: two that begin together must not both find it empty.
SELECT pg_advisory_xact_lock(hashtextextended('guildqueue.empty', 0));

-- name: read_emptiness
SELECT NOT EXISTS (SELECT FROM guildqueue_guild)
       AND NOT EXISTS (SELECT FROM auth_user)
       AND NOT EXISTS (SELECT FROM guildqueue_queue_event) AS is_empty;
