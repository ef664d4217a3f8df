-- name: insert_token
INSERT INTO guildqueue_api_token (name, sha256, user_id, guild_ids, verbs, source)
VALUES (%(name)s, %(sha256)s, %(user_id)s, %(guild_ids)s::bigint[], %(verbs)s::text[], %(source)s)
RETURNING id;

-- name: find_token
-- The token of that hash, unless it or the user it acts as may no longer come in.
-- Index: the unique one on sha256.
SELECT token.id, token.name, token.user_id, token.guild_ids, token.verbs, token.source,
       auth_user.username
  FROM guildqueue_api_token AS token
  LEFT JOIN auth_user ON auth_user.id = token.user_id
 WHERE token.sha256 = %(sha256)s
   AND token.revoked_at IS NULL
   AND (token.user_id IS NULL OR auth_user.is_active);

-- name: find_tokens
-- The same for many hashes at once.
SELECT token.sha256, token.id, token.name, token.user_id, token.guild_ids, token.verbs,
       token.source, auth_user.username
  FROM guildqueue_api_token AS token
  LEFT JOIN auth_user ON auth_user.id = token.user_id
 WHERE token.sha256 = ANY(%(hashes)s::text[])
   AND token.revoked_at IS NULL
   AND (token.user_id IS NULL OR auth_user.is_active);

-- name: touch_token
-- When it was last used, to the minute: a row that every request rewrites would only bloat.
UPDATE guildqueue_api_token SET last_used_at = statement_timestamp()
 WHERE id = %(token_id)s
   AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 minute');

-- name: revoke_token
UPDATE guildqueue_api_token SET revoked_at = statement_timestamp()
 WHERE id = %(token_id)s AND revoked_at IS NULL
RETURNING id;

-- name: list_tokens
SELECT token.id, token.name, token.user_id, token.guild_ids, token.verbs, token.source,
       auth_user.username
  FROM guildqueue_api_token AS token
  LEFT JOIN auth_user ON auth_user.id = token.user_id
 WHERE token.revoked_at IS NULL
 ORDER BY token.id;
