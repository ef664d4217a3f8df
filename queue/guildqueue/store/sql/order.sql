-- name: read_order
-- The guild's sort keys: one row a session with something outstanding, lane sessions first by
-- bump_seq, then by (priority, id). Keys come from the jobs outside the lane.
-- Locks: none; the caller holds the order lock. Index: job_outstanding.
SELECT session_id,
       min(priority) AS priority,
       coalesce(min(id) FILTER (WHERE bump_seq IS NULL), min(id)) AS first_id,
       count(*) FILTER (WHERE bump_seq IS NULL) = 0 AS in_lane,
       bool_or(state = 'pending') AS is_waiting
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND state IN ('pending', 'running')
 GROUP BY session_id
 ORDER BY CASE WHEN count(*) FILTER (WHERE bump_seq IS NULL) = 0 THEN min(bump_seq) END,
          min(priority), first_id;

-- name: read_measures
-- What rules look at, one row a session with something outstanding outside the lane.
-- audio_seconds is null where any track is unmeasured. Locks: none. Index: job_session.
SELECT session_id,
       (SELECT count(*) FROM guildqueue_participant AS participant
         WHERE participant.session_id = outstanding.session_id) AS n_participants,
       (SELECT CASE WHEN bool_and(track.audio_seconds IS NOT NULL) THEN sum(track.audio_seconds) END
          FROM guildqueue_job AS track
         WHERE track.session_id = outstanding.session_id
           AND track.guild_id = %(guild_id)s
           AND track.kind = 'transcribe') AS audio_seconds
  FROM (SELECT DISTINCT session_id
          FROM guildqueue_job
         WHERE guild_id = %(guild_id)s
           AND state IN ('pending', 'running')
           AND bump_seq IS NULL) AS outstanding;

-- name: write_priorities
-- Give each session's outstanding jobs the session's new number.
-- Locks: FOR NO KEY UPDATE in ascending id, only the rows it writes; waits for a claim that has
-- one of them and then sees its new state. Index: job_outstanding, then the primary key.
-- Returns: one row a session that was written.
WITH wanted AS (
    SELECT * FROM unnest(%(session_ids)s::bigint[], %(priorities)s::bigint[])
        AS wanted (session_id, priority)
),
locked AS MATERIALIZED (
    SELECT job.id, job.session_id
      FROM guildqueue_job AS job
     WHERE job.guild_id = %(guild_id)s
       AND job.state IN ('pending', 'running')
       AND job.session_id = ANY (%(session_ids)s::bigint[])
     ORDER BY job.id
       FOR NO KEY UPDATE
),
written AS (
    UPDATE guildqueue_job AS job
       SET priority = wanted.priority
      FROM locked
      JOIN wanted USING (session_id)
     WHERE job.id = locked.id
       AND job.guild_id = %(guild_id)s
    RETURNING job.session_id
)
SELECT session_id FROM written GROUP BY session_id;

-- name: still_outstanding
-- Which of the sessions have something outstanding now. Locks: none. Index: job_outstanding.
SELECT DISTINCT session_id
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND state IN ('pending', 'running')
   AND session_id = ANY (%(session_ids)s::bigint[]);

-- name: read_session_number
-- The number that a job added to the session takes: what its outstanding jobs carry; with none,
-- the largest that any of its jobs carried; with no job at all, 0. Locks: none, under the order lock.
SELECT coalesce(
           max(priority) FILTER (WHERE state IN ('pending', 'running')), max(priority), 0) AS priority
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND session_id = %(session_id)s;

-- name: read_last_number
-- The number at the end of the guild's line: the largest that something outstanding outside the lane
-- carries, 0 at least. Locks: none, under the order lock. Index: job_outstanding.
SELECT greatest(coalesce(max(priority), 0), 0) AS priority
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND state IN ('pending', 'running')
   AND bump_seq IS NULL;
