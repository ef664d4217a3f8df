-- New jobs of any number. The caller holds the guild's order lock, and where they need others the
-- needs lock too.

-- name: place_in_sessions
-- What new jobs take from their sessions: the number (see read_session_number) and the hold.
-- Locks: the sessions FOR NO KEY UPDATE in ascending id. Index: job_session.
SELECT session.id, session.held_at IS NOT NULL AS is_held,
       (SELECT coalesce(max(priority) FILTER (WHERE state IN ('pending', 'running')),
                        max(priority), 0)
          FROM guildqueue_job
         WHERE guild_id = %(guild_id)s AND session_id = session.id) AS priority
  FROM guildqueue_session AS session
 WHERE session.guild_id = %(guild_id)s AND session.id = ANY (%(session_ids)s::bigint[])
 ORDER BY session.id
   FOR NO KEY UPDATE OF session;

-- name: find_external_jobs
-- The jobs that have these external ids. Index: job_external_id.
SELECT id, external_id, state FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND external_id = ANY (%(external_ids)s::text[]);

-- name: find_needed_jobs
-- Those of the ids that are the guild's.
SELECT id, state FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[]);

-- name: draw_job_ids
-- As many new ids in one row: a row each would take as long as half of the jobs' COPY.
SELECT ARRAY(SELECT nextval(pg_get_serial_sequence('guildqueue_job', 'id'))
               FROM generate_series(1, %(n)s)) AS ids;

-- name: keep_plans
-- Undo for the rest of the transaction what lock_order sets: a foreign key is checked by a statement
-- for each row, and planning that anew took two thirds of the time of 25,000 rows.
SELECT set_config('plan_cache_mode', 'auto', true);

-- name: copy_jobs
COPY guildqueue_job (id, guild_id, session_id, kind, assignee_kind, priority, held, unmet, payload,
                     labels, run_after, external_id, audio_seconds, max_attempts)
FROM STDIN;

-- name: copy_needs
-- Locks: KEY SHARE on the needed rows (foreign key), which no claim and no completion waits for.
COPY guildqueue_job_dependency (guild_id, job_id, needs_id) FROM STDIN;
