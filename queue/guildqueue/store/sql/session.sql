-- name: insert_session
-- A new meeting, or nothing where the guild has one of that external id already.
INSERT INTO guildqueue_session (guild_id, external_id, title, recording, started_at)
VALUES (%(guild_id)s, %(external_id)s, %(title)s, %(recording)s, %(started_at)s)
ON CONFLICT (guild_id, external_id) DO NOTHING
RETURNING id;

-- name: find_session
-- The meeting of that external id. Index: session_external_id.
SELECT id FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND external_id = %(external_id)s;

-- name: insert_participants
INSERT INTO guildqueue_participant (guild_id, session_id, name, user_id)
SELECT %(guild_id)s, %(session_id)s, person.name, person.user_id
  FROM unnest(%(names)s::text[], %(user_ids)s::text[]) WITH ORDINALITY
       AS person (name, user_id, place)
 ORDER BY place;

-- name: lock_session
-- The session's own facts. Locks: its row FOR NO KEY UPDATE, taken before any job row.
SELECT id, title, recording, held_at IS NOT NULL AS is_held
  FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s
   FOR NO KEY UPDATE;

-- name: read_session_guild
SELECT guild_id FROM guildqueue_session WHERE id = %(session_id)s;

-- name: read_titles
SELECT id, title FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND id = ANY (%(session_ids)s::bigint[]);

-- name: read_participants
SELECT name, user_id FROM guildqueue_participant
 WHERE guild_id = %(guild_id)s AND session_id = %(session_id)s
 ORDER BY id;

-- name: read_external_id
SELECT external_id FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s;

-- name: mark_recording
UPDATE guildqueue_session SET recording = %(recording)s
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s;

-- name: mark_moved
-- Who moved the session last, shown on its row.
UPDATE guildqueue_session
   SET moved_at = clock_timestamp(), moved_by = %(by)s, moved_place = %(place)s
 WHERE guild_id = %(guild_id)s AND id = ANY (%(session_ids)s::bigint[]);

-- name: hold_session
-- Returns nothing where the session is held already.
UPDATE guildqueue_session
   SET held_at = clock_timestamp(), held_by = %(by)s, hold_reason = %(reason)s
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s AND held_at IS NULL
RETURNING id;

-- name: release_session
UPDATE guildqueue_session
   SET held_at = NULL, held_by = '', hold_reason = ''
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s AND held_at IS NOT NULL
RETURNING id;

-- name: read_started_at
SELECT started_at FROM guildqueue_session
 WHERE guild_id = %(guild_id)s AND id = %(session_id)s;
