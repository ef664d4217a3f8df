-- part: turn
-- The guild in turn with what its newest mark says, if a claim may find anything there.
   SELECT ROW(guild.id, cap, has_line, coalesce(mark.priority, -9223372036854775808),
              coalesce(mark.job_id, 0), coalesce(mark.running, 0), mark.seen, is_counted
              )::guildqueue_turn AS turn
     FROM guild
     LEFT JOIN LATERAL (SELECT * FROM guildqueue_mark WHERE guild_id = guild.id
                         ORDER BY id DESC LIMIT 1) AS mark ON true
    CROSS JOIN LATERAL (SELECT coalesce(guild.running_cap, p_scope.default_cap) AS cap,
                               coalesce(pg_snapshot_xmax(mark.seen)
                                        <= pg_snapshot_xmax(pg_current_snapshot()), false)
                                 AS is_counted OFFSET 0) AS slots
    -- A guild that its mark calls full is looked at more closely before it is locked.
    CROSS JOIN LATERAL (SELECT (mark.guild_id IS NULL OR mark.priority IS NOT NULL)
                               AND (cap IS NULL OR is_counted AND mark.running < cap
                                    OR guildqueue_n_running(guild.id) < cap)
                                 AS has_line OFFSET 0) AS line
    WHERE guild.held_at IS NULL AND (has_line OR p_any_lost)

-- name: claim_walk_1
CREATE TYPE guildqueue_scope AS (
  default_cap int, kinds text[], assignee_kind text, guilds bigint[], labels text[],
  any_labels text[], min_priority bigint, max_priority bigint, session bigint);

-- A guild that a claim tries: whether jobs may start there and from which key on, and how many run.
CREATE TYPE guildqueue_turn AS (
  guild_id bigint, cap int, has_line boolean, from_priority bigint, from_id bigint,
  running bigint, seen pg_snapshot, is_counted boolean);

-- The jobs that a claim locked, in its order, each with its guild; then the guilds whose marks stand
-- behind, and those of them in which what runs is to be counted anew.
CREATE TYPE guildqueue_heads AS (
  tids tid[], guilds bigint[], behind bigint[], uncounted bigint[]);

-- The next p_wanted guilds behind p_place, up to p_last, in which a claim may find anything; fewer
-- where there are no more within p_look.
CREATE FUNCTION guildqueue_next_turns(
  p_scope guildqueue_scope, p_any_lost boolean, p_place bigint, p_last bigint, p_wanted int,
  p_look int)
RETURNS guildqueue_turn[] LANGUAGE plpgsql AS $$
DECLARE
  turns guildqueue_turn[];
BEGIN
  IF p_scope.guilds IS NULL THEN
    WITH guild AS NOT MATERIALIZED (
      SELECT id, held_at, running_cap FROM guildqueue_guild
       WHERE id > p_place AND id <= p_last ORDER BY id LIMIT p_look)
    SELECT array_agg(turn) INTO turns FROM (
-- include: turn
     LIMIT p_wanted) AS next;
  ELSE
    WITH guild AS NOT MATERIALIZED (
      SELECT id, held_at, running_cap FROM guildqueue_guild
       WHERE id = ANY (p_scope.guilds) AND id > p_place AND id <= p_last ORDER BY id)
    SELECT array_agg(turn) INTO turns FROM (
-- include: turn
     LIMIT p_wanted) AS next;
  END IF;
  RETURN turns;
END $$;

-- The guild behind p_place and the p_look after it in which anything stands, less one; null where
-- none does. By the index, however many guilds have nothing.
CREATE FUNCTION guildqueue_look_ahead(p_place bigint, p_look int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  passed bigint;
BEGIN
  SELECT max(id) INTO passed
    FROM (SELECT id FROM guildqueue_guild WHERE id > p_place ORDER BY id LIMIT p_look) AS looked_at;
  RETURN least(
    (SELECT guild_id FROM guildqueue_job
      WHERE guild_id > passed
        AND
-- include: can_start
      ORDER BY guild_id, bump_seq, priority, id LIMIT 1),
    (SELECT guild_id FROM guildqueue_job
      WHERE guild_id > passed AND bump_seq IS NULL AND state = 'running' AND lost_at IS NOT NULL
      ORDER BY guild_id, bump_seq, priority, id LIMIT 1)) - 1;
END $$;
