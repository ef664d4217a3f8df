-- What claims would take, looked at without taking it. No statement here locks or writes a row; all
-- are run after pin_plans.

-- name: read_lane_line
-- The lane of all guilds in scope in its order, of each guild and arm at most :limit jobs, with the
-- guild's free slots. Index: the head of job_claim, where bump_seq is not null, and as for
-- find_first.
WITH candidate AS NOT MATERIALIZED (
    SELECT job.*, guild_id <> ALL (ARRAY(
-- include: full_guilds
           )) AS has_slot
      FROM guildqueue_job AS job
     WHERE bump_seq IS NOT NULL
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND
-- include: in_scope
),
-- include: line
ranked AS (
    SELECT id, row_number() OVER (PARTITION BY guild_id, state
                                  ORDER BY bump_seq, priority, id) AS place
      FROM line
)
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id) AS needs,
-- include: free_slots
       AS n_free
  FROM ranked
  JOIN guildqueue_job AS job ON job.id = ranked.id
  JOIN guildqueue_guild AS guild ON guild.id = job.guild_id
 WHERE ranked.place <= %(limit)s
 ORDER BY job.bump_seq, job.priority, job.id;

-- name: read_guild_lines
-- Of the first :n_guilds guilds that a turn may go to after :last (null: of all), the first :limit
-- jobs of each and its first :limit lost leases, with its free slots. With :is_lane_apart those outside
-- the lane only.
-- Index: the guild's primary key, job_turn and job_running_guild for each guild looked at;
-- job_claim_deferred and job_running_guild once for all of them.
WITH
-- include: eligible
,
chosen AS MATERIALIZED (
    (SELECT id FROM eligible WHERE id > %(last)s::bigint ORDER BY id LIMIT %(n_guilds)s::bigint)
    UNION ALL
    (SELECT id FROM eligible WHERE id <= %(last)s::bigint ORDER BY id LIMIT %(n_guilds)s::bigint)
    LIMIT %(n_guilds)s::bigint
),
candidate AS NOT MATERIALIZED (
    SELECT job.*, true AS has_slot
      FROM guildqueue_job AS job
     WHERE (NOT %(is_lane_apart)s OR bump_seq IS NULL)
       AND
-- include: in_scope
),
-- include: line
found AS (
    SELECT head.id
      FROM chosen
     CROSS JOIN LATERAL (
           (SELECT id FROM line WHERE guild_id = chosen.id AND state = 'pending'
             ORDER BY bump_seq, priority, id LIMIT %(limit)s)
           UNION ALL
           (SELECT id FROM line WHERE guild_id = chosen.id AND state = 'running'
             ORDER BY bump_seq, priority, id LIMIT %(limit)s)) AS head
)
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id) AS needs,
-- include: free_slots
       AS n_free
  FROM found
  JOIN guildqueue_job AS job ON job.id = found.id
  JOIN guildqueue_guild AS guild ON guild.id = job.guild_id
 ORDER BY job.bump_seq, job.priority, job.id;

-- name: count_held
-- How many jobs would be claimable but for a hold of their session or guild, as far as free slots
-- go. Index: job_outstanding, all that is outstanding in scope.
SELECT coalesce(sum(n_lost + CASE WHEN n_free IS NULL THEN n_pending
                                   ELSE least(n_pending, greatest(n_free, 0)) END), 0)::bigint AS n
  FROM (SELECT count(*) FILTER (WHERE state = 'running') AS n_lost,
               count(*) FILTER (WHERE state = 'pending') AS n_pending,
               (SELECT
-- include: free_slots
                  FROM guildqueue_guild AS guild WHERE guild.id = job.guild_id) AS n_free
          FROM guildqueue_job AS job
         WHERE state IN ('pending', 'running')
           AND unmet = 0
           AND CASE state WHEN 'pending'
                    THEN run_after IS NULL OR run_after <= statement_timestamp()
                    ELSE lease_expires_at < statement_timestamp() AND attempt < max_attempts END
           AND (held OR guild_id = ANY (ARRAY(SELECT id FROM guildqueue_guild
                                               WHERE held_at IS NOT NULL)))
           AND
-- include: in_scope
         GROUP BY guild_id) AS by_guild;

-- name: count_claimable
-- How many jobs claims would take until nothing is left, by kind: what a scaler wants to know. Of a
-- guild with a cap they are the first of its line, as many as slots are free, and its lost leases.
-- Not run after pin_plans: it reads all that is claimable, for which an index is no better.
WITH candidate AS NOT MATERIALIZED (
    SELECT job.*, guild_id <> ALL (ARRAY(
-- include: full_guilds
           )) AS has_slot
      FROM guildqueue_job AS job
     WHERE guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
       AND
-- include: in_scope
),
-- include: line
capped AS MATERIALIZED (
    SELECT guild.id,
-- include: free_slots
           AS n_free
      FROM guildqueue_guild AS guild
     WHERE coalesce(guild.running_cap, %(default_cap)s::int) IS NOT NULL
),
placed AS (
    SELECT line.kind, line.state, capped.n_free,
           row_number() OVER (PARTITION BY line.guild_id, line.state
                              ORDER BY line.bump_seq, line.priority, line.id) AS place
      FROM line JOIN capped ON capped.id = line.guild_id
)
SELECT kind, count(*) AS n
  FROM (SELECT kind FROM line WHERE guild_id <> ALL (ARRAY(SELECT id FROM capped))
        UNION ALL
        SELECT kind FROM placed WHERE state = 'running' OR place <= n_free) AS claimable
 GROUP BY kind;

-- name: list_jobs
-- Jobs of any state, ascending ids after :after. Held are those that wait under a hold of their
-- session or guild. Index: the primary key, or job_outstanding.
SELECT
-- include: job_columns
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id) AS needs
  FROM guildqueue_job AS job
 WHERE id > %(after)s
   AND (%(states)s::text[] IS NULL OR state = ANY (%(states)s::text[]))
   AND (%(held)s::boolean IS NULL
        OR %(held)s::boolean = (state = 'pending'
                                AND (held OR guild_id = ANY (ARRAY(
                                    SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL)))))
   AND
-- include: in_scope
 ORDER BY id
 LIMIT %(limit)s;
