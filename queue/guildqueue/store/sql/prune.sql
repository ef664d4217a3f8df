-- Finished sessions that are old are taken away. A batch shares the guild's needs lock, and from then
-- on waits for nobody: what others hold locked is left for another time.

-- part: is_old
-- Whether a session may go: nobody records it, all of its jobs ended before :ended_before, in states
-- that this release knows, and no job of another session needs one of them: requeued, that job would
-- miss what it needs. One without a single job is left, as nothing says when it ended.
       NOT session.recording
       AND NOT EXISTS (SELECT FROM guildqueue_job AS job
                        WHERE job.guild_id = session.guild_id AND job.session_id = session.id
                          AND (job.state NOT IN ('done', 'dead', 'cancelled')
                               OR job.finished_at >= %(ended_before)s::timestamptz))
       AND NOT EXISTS (SELECT FROM guildqueue_job AS needed
                         JOIN guildqueue_job_dependency AS dependency
                              ON dependency.needs_id = needed.id
                         JOIN guildqueue_job AS dependent ON dependent.id = dependency.job_id
                        WHERE needed.guild_id = session.guild_id AND needed.session_id = session.id
                          AND dependent.session_id <> session.id)

-- name: read_age_limit
-- The moment that lies so many days back, by the database's clock.
SELECT clock_timestamp() - make_interval(days => %(days)s::int) AS ended_before;

-- name: read_old_sessions
-- Up to :limit of a guild's sessions that may go, ascending, above :after, and how many jobs each has.
-- Index: job_finished, what ended before the moment; job_session for each session found.
WITH touched AS MATERIALIZED (
    SELECT DISTINCT session_id AS id
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s
       AND finished_at < %(ended_before)s::timestamptz
       AND session_id > %(after)s
)
SELECT session.id,
       (SELECT count(*) FROM guildqueue_job AS job
         WHERE job.guild_id = session.guild_id AND job.session_id = session.id) AS n_jobs
  FROM touched
  JOIN guildqueue_session AS session ON session.id = touched.id
 WHERE session.guild_id = %(guild_id)s AND
-- include: is_old
 ORDER BY session.id
 LIMIT %(limit)s;

-- name: lock_old_sessions
-- Locks: those of the sessions that may go, FOR UPDATE SKIP LOCKED in ascending id. So nothing is
-- added to them, and no request requeues them, until the end of the transaction.
SELECT session.id
  FROM guildqueue_session AS session
 WHERE session.guild_id = %(guild_id)s AND session.id = ANY (%(session_ids)s::bigint[]) AND
-- include: is_old
 ORDER BY session.id
   FOR UPDATE SKIP LOCKED;

-- name: lock_old_jobs
-- Locks: the sessions' jobs FOR UPDATE SKIP LOCKED in ascending id. Returns what each left.
SELECT id, session_id, result ->> 'path' AS path
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND session_id = ANY (%(session_ids)s::bigint[])
 ORDER BY id
   FOR UPDATE SKIP LOCKED;

-- name: confirm_old_sessions
-- Of the locked sessions those that may still go, with every job locked. A statement after the
-- locks: it sees what was committed until then, and nothing of it changes any more.
SELECT session.id
  FROM guildqueue_session AS session
 WHERE session.guild_id = %(guild_id)s AND session.id = ANY (%(session_ids)s::bigint[])
   AND NOT EXISTS (SELECT FROM guildqueue_job AS job
                    WHERE job.guild_id = session.guild_id AND job.session_id = session.id
                      AND job.id <> ALL (%(job_ids)s::bigint[]))
   AND
-- include: is_old
 ORDER BY session.id;

-- name: delete_old_needs
-- Index: job_dependency_once.
DELETE FROM guildqueue_job_dependency
 WHERE guild_id = %(guild_id)s AND job_id = ANY (%(job_ids)s::bigint[]);

-- name: delete_old_jobs
-- The trigger counts each off its guild's counter.
DELETE FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[]);

-- name: delete_old_participants
DELETE FROM guildqueue_participant
 WHERE guild_id = %(guild_id)s AND session_id = ANY (%(session_ids)s::bigint[]);

-- name: delete_old_sessions
DELETE FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND id = ANY (%(session_ids)s::bigint[]);
