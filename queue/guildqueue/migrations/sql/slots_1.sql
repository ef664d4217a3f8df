-- name: slots_1
-- Whether the number is of a transaction that this cluster has not had yet.
CREATE FUNCTION guildqueue_is_foreign(p_by xid8) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_by >= pg_snapshot_xmax(pg_current_snapshot())
         AND p_by IS DISTINCT FROM pg_current_xact_id_if_assigned()
$$;

-- How many of the guild's jobs run, as the statement sees it that asks: STABLE, so that what is
-- counted and what a mark says to have :seen are of one snapshot. Without a mark that saw anything,
-- or with anything of another cluster (a restored dump), whose transactions are numbered anew, the
-- jobs themselves are counted.
CREATE FUNCTION guildqueue_n_running(p_guild bigint) RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  n bigint;
BEGIN
  SELECT CASE WHEN newest.seen IS NULL
                   OR pg_snapshot_xmax(newest.seen) > pg_snapshot_xmax(pg_current_snapshot())
                   OR EXISTS (SELECT FROM guildqueue_running_step
                               WHERE guild_id = p_guild AND guildqueue_is_foreign(by))
              THEN (SELECT count(*) FROM guildqueue_job
                     WHERE guild_id = p_guild AND state = 'running')
              ELSE newest.running + (
                   SELECT coalesce(sum(delta), 0) FROM guildqueue_running_step
                    WHERE guild_id = p_guild
                      AND by >= pg_snapshot_xmin(newest.seen)
                      AND NOT pg_visible_in_snapshot(by, newest.seen)) END
    INTO n
    FROM (VALUES (1)) AS one
    LEFT JOIN LATERAL (SELECT running, seen FROM guildqueue_mark WHERE guild_id = p_guild
                        ORDER BY id DESC LIMIT 1) AS newest ON true;
  RETURN n;
END $$;

-- Whether one more job of the guild may run, its row locked from here on; null where another claim
-- holds it. A guild that is full is not locked. Volatile: it counts again after it has the lock.
CREATE FUNCTION guildqueue_has_slot(p_guild bigint, p_cap int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF guildqueue_n_running(p_guild) >= p_cap THEN
    RETURN false;
  END IF;
  PERFORM FROM guildqueue_guild WHERE id = p_guild FOR NO KEY UPDATE SKIP LOCKED;
  RETURN CASE WHEN FOUND THEN guildqueue_n_running(p_guild) < p_cap END;
END $$;
