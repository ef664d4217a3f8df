-- Whose job a claim takes: what is looked at, without a lock, before anything is taken. All of it is
-- run after pin_plans.

-- name: find_first
-- The guild of the first claimable job of all, in the order lane, priority, id, locked by others or
-- not; guilds :passed are left out. Also what tells "all of it is being written just now" from
-- "there is nothing". Locks: none.
-- Index: job_claim, job_claim_deferred, job_running, guild_held; job_running_guild for the caps.
WITH candidate AS NOT MATERIALIZED (
    SELECT job.*, guild_id <> ALL (ARRAY(
-- include: full_guilds
           )) AS has_slot
      FROM guildqueue_job AS job
     WHERE guild_id <> ALL (%(passed)s::bigint[])
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND
-- include: in_scope
),
-- include: line
head AS (
    SELECT guild_id FROM line ORDER BY bump_seq, priority, id LIMIT 1
)
SELECT guild.id AS guild_id,
       coalesce(guild.running_cap, %(default_cap)s::int) IS NOT NULL AS is_capped
  FROM head JOIN guildqueue_guild AS guild ON guild.id = head.guild_id;

-- name: find_lane
-- The same of the jobs that run next. Index: the head of job_claim, where bump_seq is not null, and
-- as for find_first.
WITH candidate AS NOT MATERIALIZED (
    SELECT job.*, guild_id <> ALL (ARRAY(
-- include: full_guilds
           )) AS has_slot
      FROM guildqueue_job AS job
     WHERE bump_seq IS NOT NULL
       AND guild_id <> ALL (%(passed)s::bigint[])
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND
-- include: in_scope
),
-- include: line
head AS (
    SELECT guild_id FROM line ORDER BY bump_seq, priority, id LIMIT 1
)
SELECT guild.id AS guild_id,
       coalesce(guild.running_cap, %(default_cap)s::int) IS NOT NULL AS is_capped
  FROM head JOIN guildqueue_guild AS guild ON guild.id = head.guild_id;

-- part: eligible
-- The guilds that a turn may go to: not held, with a claimable job, locked by others or not. What
-- became due or lost its lease is looked for once for all of them; in an order only so that it is
-- looked for in job_claim_deferred. A guild's line is asked for one row, not whether it EXISTS: for
-- that the planner may read all lines at once.
due AS NOT MATERIALIZED (
    SELECT guild_id FROM guildqueue_job
     WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after <= statement_timestamp()
       AND
-- include: in_scope
     ORDER BY run_after
),
lost AS NOT MATERIALIZED (
    SELECT guild_id FROM guildqueue_job
     WHERE state = 'running' AND NOT held AND unmet = 0
       AND lease_expires_at < statement_timestamp() AND attempt < max_attempts
       AND
-- include: in_scope
),
eligible AS NOT MATERIALIZED (
    SELECT guild.id, guild.running_cap
      FROM guildqueue_guild AS guild
     WHERE guild.held_at IS NULL
       AND (%(guilds)s::bigint[] IS NULL OR guild.id = ANY (%(guilds)s::bigint[]))
       AND (guild.id = ANY (ARRAY(SELECT guild_id FROM lost))
            OR ((guild.id = ANY (ARRAY(SELECT guild_id FROM due))
                 OR (SELECT true FROM guildqueue_job
                      WHERE guild_id = guild.id AND state = 'pending' AND unmet = 0
                        AND NOT held AND run_after IS NULL
                        AND
-- include: in_scope
                      LIMIT 1)) AND
-- include: guild_has_slot
               ))
)

-- name: find_turn
-- The first guild above :last, else the first of all, that is not :passed. Locks: none.
-- Index: the guild's primary key, job_turn and job_running_guild for each guild looked at;
-- job_claim_deferred and job_running once for all of them.
WITH
-- include: eligible
(SELECT id AS guild_id, coalesce(running_cap, %(default_cap)s::int) IS NOT NULL AS is_capped
   FROM eligible WHERE id > %(last)s::bigint AND id <> ALL (%(passed)s::bigint[])
  ORDER BY id LIMIT 1)
UNION ALL
(SELECT id AS guild_id, coalesce(running_cap, %(default_cap)s::int) IS NOT NULL AS is_capped
   FROM eligible WHERE id <= %(last)s::bigint AND id <> ALL (%(passed)s::bigint[])
  ORDER BY id LIMIT 1)
LIMIT 1;

-- name: has_caps
-- Whether any guild has a cap of its own. Index: guild_capped.
SELECT EXISTS (SELECT FROM guildqueue_guild WHERE running_cap IS NOT NULL) AS has_caps;

-- name: lock_slots
-- Locks: the guild's row FOR NO KEY UPDATE until the end of the transaction, so that its running jobs
-- can be counted, in a later statement, while nobody else starts one. Returns nothing where another
-- holds it: a claim that has locked something never waits.
SELECT id FROM guildqueue_guild WHERE id = %(guild_id)s FOR NO KEY UPDATE SKIP LOCKED;

-- name: await_slots
-- Locks: the row of a guild with a cap, waited for. Only for a claim that has locked no row yet.
SELECT id FROM guildqueue_guild
 WHERE id = %(guild_id)s AND coalesce(running_cap, %(default_cap)s::int) IS NOT NULL
   FOR NO KEY UPDATE;

-- name: read_cursor
-- The guild of the last turn. Index: claim_cursor_newest.
SELECT guild_id
  FROM guildqueue_claim_cursor
 WHERE principal = %(principal)s AND filter_hash = %(filter_hash)s
 ORDER BY id DESC
 LIMIT 1;

-- name: append_cursor
-- The turn just taken. Nothing is locked: two claims of one principal may read the same cursor, and
-- one of them loses its turn, never its job.
INSERT INTO guildqueue_claim_cursor (principal, filter_hash, guild_id)
VALUES (%(principal)s, %(filter_hash)s, %(guild_id)s);

-- name: prune_cursors
-- Drop what stands behind a newer row, and what nobody used for 30 days.
-- Locks: FOR UPDATE SKIP LOCKED, as several workers prune. Index: claim_cursor_newest.
DELETE FROM guildqueue_claim_cursor
 WHERE id IN (SELECT cursor.id
                FROM guildqueue_claim_cursor AS cursor
               WHERE cursor.claimed_at < statement_timestamp() - interval '30 days'
                  OR EXISTS (SELECT FROM guildqueue_claim_cursor AS newer
                              WHERE newer.principal = cursor.principal
                                AND newer.filter_hash = cursor.filter_hash
                                AND newer.id > cursor.id)
               ORDER BY cursor.id
               LIMIT 10000
                 FOR UPDATE SKIP LOCKED);
