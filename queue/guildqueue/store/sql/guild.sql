-- part: guild_columns
-- What is read of a guild, by name for the reason that job_columns gives.
       guild.id, guild.name, guild.root, guild.running_cap, guild.held_at, guild.held_by,
       guild.hold_reason

-- name: upsert_guild
-- The guild with what was given written over what it had; null keeps what is there.
INSERT INTO guildqueue_guild AS guild (id, name, root, running_cap)
VALUES (%(guild_id)s::bigint, coalesce(%(name)s::text, %(guild_id)s::bigint::text), %(root)s,
        CASE WHEN NOT %(lifts_cap)s::bool THEN %(running_cap)s::int END)
ON CONFLICT (id) DO UPDATE
   SET name = coalesce(%(name)s::text, guild.name),
       root = coalesce(%(root)s::text, guild.root),
       running_cap = CASE WHEN NOT %(lifts_cap)s::bool
                          THEN coalesce(%(running_cap)s::int, guild.running_cap) END
RETURNING
-- include: guild_columns
       , xmax = 0 AS is_new;

-- name: insert_guild
-- Locks: none on a guild that is there.
INSERT INTO guildqueue_guild (id, name) VALUES (%(guild_id)s, %(name)s)
ON CONFLICT (id) DO NOTHING;

-- name: read_guild
SELECT
-- include: guild_columns
  FROM guildqueue_guild AS guild WHERE id = %(guild_id)s;

-- name: read_guild_ids
SELECT id FROM guildqueue_guild ORDER BY id;

-- name: read_rootless_guild_ids
-- Those whose record names no root.
SELECT id FROM guildqueue_guild WHERE root IS NULL ORDER BY id;

-- name: read_administered_guild
-- The guild, if that user administers it and may sign in. Index: administrator_user_guild.
SELECT
-- include: guild_columns
  FROM guildqueue_guild AS guild
  JOIN guildqueue_administrator AS administrator ON administrator.guild_id = guild.id
  JOIN auth_user ON auth_user.id = administrator.user_id AND auth_user.is_active
 WHERE guild.id = %(guild_id)s
   AND administrator.user_id = %(user_id)s;

-- name: read_administered_session
-- The session's guild, if that user administers it and may sign in.
SELECT session.guild_id
  FROM guildqueue_session AS session
  JOIN guildqueue_administrator AS administrator ON administrator.guild_id = session.guild_id
  JOIN auth_user ON auth_user.id = administrator.user_id AND auth_user.is_active
 WHERE session.id = %(session_id)s
   AND administrator.user_id = %(user_id)s;

-- name: read_administered_pairs
-- Those of the pairs (user, guild) where the user administers the guild and may sign in.
-- Index: administrator_user_guild.
SELECT administrator.user_id, administrator.guild_id
  FROM unnest(%(user_ids)s::bigint[], %(guild_ids)s::bigint[]) AS asked (user_id, guild_id)
  JOIN guildqueue_administrator AS administrator
    ON administrator.user_id = asked.user_id AND administrator.guild_id = asked.guild_id
  JOIN auth_user ON auth_user.id = administrator.user_id AND auth_user.is_active;

-- name: insert_administrator
INSERT INTO guildqueue_administrator (guild_id, user_id)
VALUES (%(guild_id)s, %(user_id)s)
ON CONFLICT (user_id, guild_id) DO NOTHING
RETURNING id;

-- name: delete_administrator
DELETE FROM guildqueue_administrator
 WHERE guild_id = %(guild_id)s AND user_id = %(user_id)s
RETURNING id;

-- name: find_user
SELECT id FROM auth_user WHERE username = %(username)s AND is_active;

-- name: lock_guild
-- Locks: the guild's row FOR NO KEY UPDATE, after the order lock and before any job row.
SELECT id FROM guildqueue_guild WHERE id = %(guild_id)s FOR NO KEY UPDATE;

-- name: hold_guild
-- Returns nothing where the guild is held already.
UPDATE guildqueue_guild
   SET held_at = clock_timestamp(), held_by = %(by)s, hold_reason = %(reason)s
 WHERE id = %(guild_id)s AND held_at IS NULL
RETURNING id;

-- name: release_guild
UPDATE guildqueue_guild SET held_at = NULL, held_by = '', hold_reason = ''
 WHERE id = %(guild_id)s AND held_at IS NOT NULL
RETURNING id;

-- name: read_guild_lists
-- The guilds that each of the users administers, with what is outstanding in each and how much has
-- ended, and the number of the moment (see read_snapshot); a user without one has a row without one.
-- Index: job_outstanding for what is outstanding, guild_count_guild for the counters.
WITH member AS MATERIALIZED (
    SELECT administrator.user_id, administrator.guild_id
      FROM guildqueue_administrator AS administrator
      JOIN auth_user ON auth_user.id = administrator.user_id AND auth_user.is_active
     WHERE administrator.user_id = ANY(%(user_ids)s::bigint[])
),
summary AS MATERIALIZED (
    SELECT guild.id, guild.name, guild.held_at, guild.held_by, guild.hold_reason,
           live.n_pending, live.n_running, live.n_held, live.n_sessions,
           (SELECT coalesce(jsonb_object_agg(state, n), '{}')
              FROM (SELECT state, sum(delta)::bigint AS n FROM guildqueue_guild_count
                     WHERE guild_id = guild.id GROUP BY state) AS ended) AS ended,
           (SELECT session.title
              FROM guildqueue_job AS job
              JOIN guildqueue_session AS session ON session.id = job.session_id
             WHERE job.guild_id = guild.id AND job.state = 'pending' AND job.unmet = 0
               AND NOT job.held AND guild.held_at IS NULL
               AND (job.run_after IS NULL OR job.run_after <= now())
             ORDER BY job.bump_seq, job.priority, job.id LIMIT 1) AS next_title,
           -- What was cancelled is not finished; nobody walks through more than a thousand of it.
           (SELECT finished_at
              FROM (SELECT state, finished_at FROM guildqueue_job
                     WHERE guild_id = guild.id AND finished_at IS NOT NULL
                     ORDER BY finished_at DESC LIMIT 1000) AS newest
             WHERE state = 'done'
             ORDER BY finished_at DESC LIMIT 1) AS last_finished_at
      FROM guildqueue_guild AS guild
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE state = 'pending') AS n_pending,
                  count(*) FILTER (WHERE state = 'running') AS n_running,
                  count(*) FILTER (WHERE state = 'pending'
                                     AND (held OR guild.held_at IS NOT NULL)) AS n_held,
                  count(DISTINCT session_id) AS n_sessions
             FROM guildqueue_job
            WHERE guild_id = guild.id AND state IN ('pending', 'running')) AS live
     WHERE guild.id IN (SELECT guild_id FROM member)
)
SELECT asked.user_id,
       pg_snapshot_xmax(moment.snapshot)::text::numeric * 10000 + 9999
           - least((SELECT count(*) FROM pg_snapshot_xip(moment.snapshot)), 9999)
           AS snapshot_number,
       summary.*
  FROM unnest(%(user_ids)s::bigint[]) AS asked (user_id)
 CROSS JOIN (SELECT pg_current_snapshot() AS snapshot) AS moment
  LEFT JOIN member ON member.user_id = asked.user_id
  LEFT JOIN summary ON summary.id = member.guild_id
 ORDER BY lower(summary.name), summary.id;
