-- part: waits_for
-- Why a pending job may not run, null where it is claimable or does not wait: of job, its guild
-- and totals.n_running, the guild's running jobs. Index: job_session's rows; the dependency's keys.
CASE WHEN job.state <> 'pending' THEN NULL
     WHEN job.held OR guild.held_at IS NOT NULL THEN 'hold'
     WHEN job.unmet > 0 THEN
         CASE WHEN EXISTS (
                  SELECT FROM guildqueue_job_dependency AS dependency
                    JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
                   WHERE dependency.job_id = job.id
                     AND needed.state IN ('dead', 'cancelled'))
              THEN 'dependency-failed' ELSE 'dependency' END
     WHEN job.run_after > statement_timestamp() THEN 'not-before'
     WHEN totals.n_running >= coalesce(guild.running_cap, %(default_cap)s::int) THEN 'cap'
END

-- name: read_snapshot
-- A guild's queue at one moment, in one statement and so of one moment: its totals, the first
-- :limit sessions with something outstanding after the session :after, and the newest :n_finished
-- with nothing outstanding; or only the session :only, whatever it is. One row a session, or a
-- single row without one. The first has the newest :n_events records of the ledger too, or null.
-- Locks: none. Index: job_outstanding, then job_session for the sessions shown; job_finished;
-- queue_event_newest.
-- A snapshot's number is exact: of two snapshots the later has the higher xmax, or the same one and
-- fewer transactions still running, or sees the same rows.
WITH outstanding AS MATERIALIZED (
    SELECT session_id,
           min(priority) AS priority,
           coalesce(min(id) FILTER (WHERE bump_seq IS NULL), min(id)) AS first_id,
           CASE WHEN count(bump_seq) = count(*) THEN min(bump_seq) END AS lane_place,
           count(bump_seq) AS n_lane,
           bool_or(bump_named) AS named,
           count(*) FILTER (WHERE state = 'pending') AS n_pending,
           count(*) FILTER (WHERE state = 'running') AS n_running,
           count(*) FILTER (WHERE state = 'pending' AND held) AS n_held,
           count(*) FILTER (WHERE state = 'pending' AND kind = 'transcribe') AS n_tracks,
           count(*) FILTER (WHERE state = 'pending' AND kind = 'transcribe'
                              AND audio_seconds IS NULL) AS n_unmeasured,
           coalesce(sum(audio_seconds) FILTER (WHERE state = 'pending'
                                                 AND kind = 'transcribe'), 0) AS audio_seconds
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s
       AND state IN ('pending', 'running')
     GROUP BY session_id
),
numbered AS MATERIALIZED (
    SELECT outstanding.*,
           row_number() OVER line AS place,
           CASE WHEN n_pending > 0
                THEN count(*) FILTER (WHERE n_pending > 0) OVER line END AS position
      FROM outstanding
    WINDOW line AS (ORDER BY lane_place, priority, first_id ROWS UNBOUNDED PRECEDING)
),
start AS (
    SELECT coalesce((SELECT place FROM numbered WHERE session_id = %(after)s::bigint), 0) AS place
),
page AS (
    SELECT numbered.* FROM numbered, start
     WHERE CASE WHEN %(only)s::bigint IS NULL
                THEN numbered.place > start.place AND numbered.place <= start.place + %(limit)s
                ELSE numbered.session_id = %(only)s::bigint END
),
ended AS (
    SELECT session_id, max(finished_at) AS ended_at
      FROM (SELECT session_id, finished_at
              FROM guildqueue_job
             WHERE guild_id = %(guild_id)s AND finished_at IS NOT NULL
             ORDER BY finished_at DESC
             LIMIT 40 * %(n_finished)s) AS newest
     WHERE %(after)s::bigint IS NULL AND %(only)s::bigint IS NULL
     GROUP BY session_id
),
alone AS (
    -- Sessions that no job leads to: still recording, or asked for by name.
    SELECT id AS session_id, created_at AS ended_at
      FROM guildqueue_session
     WHERE guild_id = %(guild_id)s
       AND CASE WHEN %(only)s::bigint IS NULL THEN recording AND %(after)s::bigint IS NULL
                ELSE id = %(only)s::bigint END
),
finished AS (
    SELECT session_id, max(ended_at) AS ended_at
      FROM (SELECT * FROM ended UNION ALL SELECT * FROM alone) AS candidate
     WHERE NOT EXISTS (SELECT FROM outstanding WHERE outstanding.session_id = candidate.session_id)
     GROUP BY session_id
     ORDER BY max(ended_at) DESC, session_id DESC
     LIMIT %(n_finished)s
),
shown AS (
    SELECT session_id, place, position, priority, n_lane, named, NULL::timestamptz AS ended_at
      FROM page
    UNION ALL
    SELECT session_id, NULL, NULL, NULL, 0, false, ended_at FROM finished
),
totals AS (
    SELECT coalesce(sum(n_pending), 0)::bigint AS n_pending,
           coalesce(sum(n_running), 0)::bigint AS n_running,
           coalesce(sum(n_held), 0)::bigint AS n_held,
           coalesce(sum(n_tracks), 0)::bigint AS n_tracks,
           coalesce(sum(n_unmeasured), 0)::bigint AS n_unmeasured,
           coalesce(sum(audio_seconds), 0)::float8 AS waiting_audio_seconds,
           count(*) FILTER (WHERE n_pending > 0) AS n_waiting_sessions,
           greatest(count(*) - (SELECT place FROM start) - %(limit)s, 0) AS more,
           coalesce(bool_or(session_id = %(after)s::bigint), false) AS found_after
      FROM numbered
),
counters AS MATERIALIZED (
    -- Once, not once a session shown: steps that nobody has folded yet may be many.
    SELECT coalesce(jsonb_object_agg(state, n), '{}') AS ended
      FROM (SELECT state, sum(delta)::bigint AS n
              FROM guildqueue_guild_count
             WHERE guild_id = %(guild_id)s
             GROUP BY state) AS counter
)
SELECT guild.id AS guild_id, guild.name AS guild_name, guild.root AS guild_root,
       coalesce(guild.running_cap, %(default_cap)s::int) AS running_cap,
       guild.held_at AS guild_held_at, guild.held_by AS guild_held_by,
       guild.hold_reason AS guild_hold_reason,
       statement_timestamp() AS at,
       pg_snapshot_xmax(moment.snapshot)::text::numeric * 10000 + 9999
           - least((SELECT count(*) FROM pg_snapshot_xip(moment.snapshot)), 9999)
           AS snapshot_number,
       -- Once: with each of 250 rows it would be most of what is sent.
       CASE WHEN row_number() OVER (ORDER BY shown.place, shown.ended_at DESC,
                                             shown.session_id DESC) = 1 THEN (
           SELECT jsonb_agg(to_jsonb(event) ORDER BY event.event_id DESC)
             FROM (SELECT
-- include: record_columns
                     FROM guildqueue_queue_event
                    WHERE guild_id = %(guild_id)s
                    ORDER BY event_id DESC
                    LIMIT %(n_events)s) AS event) END AS events,
       totals.*,
       counters.ended,
       shown.session_id, shown.place, shown.position, shown.priority, shown.n_lane, shown.named,
       session.title, session.started_at, session.created_at, session.recording,
       session.held_at, session.held_by, session.hold_reason,
       session.moved_at, session.moved_by, session.moved_place,
       people.n AS n_participants,
       session_jobs.ids, session_jobs.kinds, session_jobs.states, session_jobs.names,
       session_jobs.progresses, session_jobs.lane_places, session_jobs.reasons,
       session_jobs.seconds, session_jobs.bumped_at, session_jobs.bumped_by,
       session_jobs.bump_reason, session_jobs.running_since, session_jobs.ended_at,
       session_jobs.not_before, session_jobs.has_document
  FROM guildqueue_guild AS guild
 CROSS JOIN totals
 CROSS JOIN counters
 CROSS JOIN (SELECT pg_current_snapshot() AS snapshot) AS moment
  LEFT JOIN shown ON true
  -- OFFSET 0: looked up one by one. The planner takes the shown for many and would read them all.
  LEFT JOIN LATERAL (
       SELECT * FROM guildqueue_session
        WHERE id = shown.session_id AND guild_id = %(guild_id)s OFFSET 0) AS session ON true
  LEFT JOIN LATERAL (
       SELECT count(*) AS n FROM guildqueue_participant
        WHERE session_id = shown.session_id) AS people ON true
  LEFT JOIN LATERAL (
       SELECT array_agg(id ORDER BY id) AS ids,
              array_agg(kind ORDER BY id) AS kinds,
              array_agg(state ORDER BY id) AS states,
              array_agg(coalesce(payload ->> 'name', '') ORDER BY id) AS names,
              array_agg(progress ORDER BY id) AS progresses,
              array_agg(bump_seq ORDER BY id) AS lane_places,
              array_agg(audio_seconds ORDER BY id) AS seconds,
              -- The newest bump by name of a job that is in the lane now.
              max(bumped_at) FILTER (WHERE bump_named) AS bumped_at,
              (array_agg(bumped_by ORDER BY bumped_at DESC NULLS LAST)
                  FILTER (WHERE bump_named))[1] AS bumped_by,
              (array_agg(bump_reason ORDER BY bumped_at DESC NULLS LAST)
                  FILTER (WHERE bump_named))[1] AS bump_reason,
              array_agg(
-- include: waits_for
                  ORDER BY id) AS reasons,
              min(started_at) FILTER (WHERE state = 'running') AS running_since,
              min(run_after) FILTER (WHERE state = 'pending'
                                       AND run_after > statement_timestamp()) AS not_before,
              max(finished_at) AS ended_at,
              bool_or(kind = 'document' AND result IS NOT NULL) AS has_document
         FROM guildqueue_job AS job
        WHERE job.session_id = shown.session_id) AS session_jobs ON true
 WHERE guild.id = %(guild_id)s
 ORDER BY shown.place, shown.ended_at DESC, shown.session_id DESC;
