-- Whose job a claim takes: what is looked at, without a lock, before anything is taken. All of it is
-- run after pin_plans.

-- name: find_first
-- The guild of the first claimable job of all, in the order lane, priority, id, locked by others or
-- not; guilds :passed are left out. Also what tells "all of it is being written just now" from
-- "there is nothing". Locks: none.
-- Index: job_claim, job_claim_deferred, guild_held, job_running_guild.
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
    SELECT id, guild_id FROM line ORDER BY bump_seq, priority, id LIMIT 1
)
SELECT guild.id AS guild_id, head.id AS job_id,
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

-- name: await_job
-- Locks: the job's row, waited for, so that whoever has it locked is done with it.
SELECT id FROM guildqueue_job WHERE id = %(job_id)s FOR NO KEY UPDATE;

-- name: read_cursor
-- The guild of the last turn. Index: guildqueue_claim_cursor_pkey.
SELECT guild_id
  FROM guildqueue_claim_cursor
 WHERE principal = %(principal)s AND filter_hash = %(filter_hash)s
 ORDER BY id DESC
 LIMIT 1;

-- name: prune_cursors
-- Drop what stands behind a newer row, and what nobody used for 30 days.
-- Locks: FOR UPDATE SKIP LOCKED, as several workers prune. Index: guildqueue_claim_cursor_pkey.
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

-- name: read_unraised
-- Guilds in which many jobs began or ended since their mark, as no claim in turns came by; and those
-- with steps from another cluster (a restored dump). Index: running_step_guild, all of it.
SELECT guild_id FROM guildqueue_running_step
 GROUP BY guild_id
HAVING count(*) >= %(n_steps)s OR bool_or(guildqueue_is_foreign(by))
 ORDER BY guild_id;

-- name: raise_mark
SELECT guildqueue_raise_marks(ARRAY[%(guild_id)s]::bigint[], ARRAY[%(guild_id)s]::bigint[]);

-- name: prune_steps
-- Drop what a mark has seen; a mark that is a minute old, as a claim may still count from the one
-- before. Locks: FOR UPDATE SKIP LOCKED, as several workers prune. Index: guildqueue_mark_pkey.
DELETE FROM guildqueue_running_step
 WHERE ctid = ANY (ARRAY(
    SELECT step.ctid
      FROM guildqueue_running_step AS step
      JOIN (SELECT DISTINCT ON (guild_id) guild_id, seen FROM guildqueue_mark
             WHERE at < statement_timestamp() - interval '1 minute'
             ORDER BY guild_id, id DESC) AS mark USING (guild_id)
     WHERE pg_visible_in_snapshot(step.by, mark.seen)
     LIMIT 10000
       FOR UPDATE OF step SKIP LOCKED));

-- name: prune_marks
-- Drop what stands behind a newer row that is a minute old.
-- Locks: FOR UPDATE SKIP LOCKED. Index: guildqueue_mark_pkey.
DELETE FROM guildqueue_mark
 WHERE ctid = ANY (ARRAY(
    SELECT mark.ctid
      FROM guildqueue_mark AS mark
     WHERE EXISTS (SELECT FROM guildqueue_mark AS newer
                    WHERE newer.guild_id = mark.guild_id AND newer.id > mark.id
                      AND newer.at < statement_timestamp() - interval '1 minute')
     LIMIT 10000
       FOR UPDATE SKIP LOCKED));
