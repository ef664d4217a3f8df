-- name: marks_1
-- Where a guild's line begins, and how many of its jobs run: rows that are only ever added, so that
-- an old snapshot, which keeps every dead row version alive, makes no claim slower. Decision 0006.
-- All of it can be told from the jobs, so nothing is logged: after a crash, or on a replica that takes
-- over, it is empty, lines are read from their beginning and what runs is counted.

-- The newest row of a guild counts. No claimable job of its line outside the lane stands before
-- (priority, job_id); with nulls there, there is none. So many were running as :seen saw it. Line 0
-- is what comes out of turn: the lane of all guilds, where the priority is a bump_seq; the job_id is
-- 1 while a lease is flagged as lost.
CREATE UNLOGGED TABLE guildqueue_mark (
  guild_id bigint NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  priority bigint,
  job_id bigint,
  running bigint NOT NULL,
  seen pg_snapshot,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (guild_id, id)
);

-- A job began or ceased to run. What a mark has not :seen is added to what it says.
CREATE UNLOGGED TABLE guildqueue_running_step (
  guild_id bigint NOT NULL,
  by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  delta smallint NOT NULL
);
CREATE INDEX running_step_guild ON guildqueue_running_step (guild_id, by);

-- The first of the jobs that a statement inserted, until the transaction lowers the guild's mark.
CREATE UNLOGGED TABLE guildqueue_arrival (
  guild_id bigint NOT NULL,
  priority bigint NOT NULL,
  job_id bigint PRIMARY KEY,
  bump_seq bigint
);

CREATE FUNCTION guildqueue_count_running() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO guildqueue_running_step (guild_id, delta) VALUES (NEW.guild_id, 1);
  ELSE
    INSERT INTO guildqueue_running_step (guild_id, delta) VALUES (OLD.guild_id, -1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER job_running_inserted AFTER INSERT ON guildqueue_job FOR EACH ROW
  WHEN (NEW.state = 'running') EXECUTE FUNCTION guildqueue_count_running();
CREATE TRIGGER job_running_deleted AFTER DELETE ON guildqueue_job FOR EACH ROW
  WHEN (OLD.state = 'running') EXECUTE FUNCTION guildqueue_count_running();

-- One trigger for whatever counts states, its condition short: it is parsed anew by each statement,
-- which costs a claim of one job more than the counting.
CREATE FUNCTION guildqueue_count_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'running' THEN
    INSERT INTO guildqueue_running_step (guild_id, delta) VALUES (NEW.guild_id, 1);
  ELSIF OLD.state = 'running' THEN
    INSERT INTO guildqueue_running_step (guild_id, delta) VALUES (OLD.guild_id, -1);
  END IF;
  IF NEW.state NOT IN ('pending', 'running') THEN
    INSERT INTO guildqueue_guild_count (guild_id, state, delta) VALUES (NEW.guild_id, NEW.state, 1);
  END IF;
  IF OLD.state NOT IN ('pending', 'running') THEN
    INSERT INTO guildqueue_guild_count (guild_id, state, delta) VALUES (OLD.guild_id, OLD.state, -1);
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER job_count_updated ON guildqueue_job;
CREATE TRIGGER job_state_updated AFTER UPDATE OF state ON guildqueue_job FOR EACH ROW
  WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION guildqueue_count_state();

CREATE FUNCTION guildqueue_forget_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM guildqueue_mark;
  DELETE FROM guildqueue_running_step;
  DELETE FROM guildqueue_arrival;
  RETURN NULL;
END $$;
CREATE TRIGGER job_marks_truncated AFTER TRUNCATE ON guildqueue_job
  FOR EACH STATEMENT EXECUTE FUNCTION guildqueue_forget_marks();

-- Where the newest mark stands behind a key, a lower one is put in front of it. Line 0 is what comes
-- out of turn; its flag for lost leases stays. A transaction with one snapshot for all of its
-- statements may not see the newest mark, and puts one in front of everything.
CREATE FUNCTION guildqueue_lower_mark(p_line bigint, p_priority bigint, p_job bigint)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  newest guildqueue_mark;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('guildqueue.mark:' || p_line, 0));
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    INSERT INTO guildqueue_mark (guild_id, priority, job_id, running)
    VALUES (p_line, -9223372036854775808, (p_line = 0)::int, 0);
    RETURN;
  END IF;
  SELECT * INTO newest FROM guildqueue_mark WHERE guild_id = p_line ORDER BY id DESC LIMIT 1;
  IF FOUND AND (newest.priority IS NULL
                OR p_line = 0 AND p_priority < newest.priority
                OR p_line > 0 AND (p_priority, p_job) < (newest.priority, newest.job_id)) THEN
    INSERT INTO guildqueue_mark (guild_id, priority, job_id, running, seen)
    VALUES (p_line, p_priority, CASE WHEN p_line = 0 THEN coalesce(newest.job_id, 0) ELSE p_job END,
            newest.running, newest.seen);
  END IF;
END $$;

-- Leases were noticed to be lost: claims look for them until none is left.
CREATE FUNCTION guildqueue_flag_lost() RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  newest guildqueue_mark;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('guildqueue.mark:0', 0));
  SELECT * INTO newest FROM guildqueue_mark WHERE guild_id = 0 ORDER BY id DESC LIMIT 1;
  IF FOUND AND newest.job_id IS DISTINCT FROM 1 THEN
    INSERT INTO guildqueue_mark (guild_id, priority, job_id, running)
    VALUES (0, coalesce(newest.priority, 9223372036854775807), 1, 0);
  END IF;
END $$;

-- At commit, when nothing else is waited for: a claim must find what has become claimable. Whoever
-- raises a mark does so under its lock and sees what was committed before, so a job is either seen
-- then or lowers the mark after. The lane's lock is taken after a guild's, by all.
CREATE FUNCTION guildqueue_came_into_line(
  p_guild bigint, p_bump_seq bigint, p_priority bigint, p_job bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_bump_seq IS NULL THEN
    PERFORM guildqueue_lower_mark(p_guild, p_priority, p_job);
  ELSE
    PERFORM pg_advisory_xact_lock(hashtextextended('guildqueue.mark:' || p_guild, 0)),
            guildqueue_lower_mark(0, p_bump_seq, 0);
  END IF;
END $$;

CREATE FUNCTION guildqueue_became_claimable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.unmet = 0 AND NOT NEW.held AND NEW.run_after IS NULL
     AND NOT (OLD.state = 'pending' AND OLD.unmet = 0 AND NOT OLD.held AND OLD.run_after IS NULL
              AND CASE WHEN NEW.bump_seq IS NULL
                       THEN OLD.bump_seq IS NULL AND OLD.priority <= NEW.priority
                       ELSE coalesce(OLD.bump_seq <= NEW.bump_seq, false) END) THEN
    PERFORM guildqueue_came_into_line(NEW.guild_id, NEW.bump_seq, NEW.priority, NEW.id);
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER job_became_claimable AFTER UPDATE ON guildqueue_job
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state = 'pending') EXECUTE FUNCTION guildqueue_became_claimable();

CREATE FUNCTION guildqueue_arrived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM guildqueue_arrival WHERE job_id = NEW.job_id;
  PERFORM guildqueue_came_into_line(NEW.guild_id, NEW.bump_seq, NEW.priority, NEW.job_id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER arrival_became_claimable AFTER INSERT ON guildqueue_arrival
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guildqueue_arrived();

-- One row a guild and statement, as a COPY may bring a hundred thousand jobs.
CREATE FUNCTION guildqueue_note_arrivals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO guildqueue_arrival (guild_id, priority, job_id, bump_seq)
  SELECT DISTINCT ON (guild_id, bump_seq IS NULL) guild_id, priority, id, bump_seq
    FROM arrived
   WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
   ORDER BY guild_id, bump_seq IS NULL, bump_seq, priority, id;
  RETURN NULL;
END $$;
CREATE TRIGGER job_arrived AFTER INSERT ON guildqueue_job
  REFERENCING NEW TABLE AS arrived FOR EACH STATEMENT EXECUTE FUNCTION guildqueue_note_arrivals();

-- What the statement sees of all others, without this transaction, which has no part in its own
-- pg_current_snapshot: as if it were still running, whatever it has yet to do.
CREATE FUNCTION guildqueue_snapshot_of_others() RETURNS pg_snapshot LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN own >= pg_snapshot_xmax(seen) THEN seen
              ELSE (pg_snapshot_xmin(seen)::text || ':' || pg_snapshot_xmax(seen)::text || ':' || (
                   SELECT string_agg(by::text, ',' ORDER BY by)
                     FROM (SELECT own AS by UNION SELECT pg_snapshot_xip(seen)) AS others
                   ))::pg_snapshot END
    FROM (SELECT pg_current_xact_id() AS own, pg_current_snapshot() AS seen) AS now
$$;

-- Put the guilds' marks where their lines begin now, with what runs for those that are p_counted.
-- Somebody else doing so, or making a job claimable, is not waited for; what is left out of very many
-- is put right by later claims. The lines are read without a lock, by a statement that begins when
-- the marks are locked: a job that a claim has not committed yet still stands in them.
CREATE FUNCTION guildqueue_raise_marks(p_guilds bigint[], p_counted bigint[])
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  locked bigint[];
BEGIN
  IF p_guilds IS NULL OR current_setting('transaction_isolation') <> 'read committed' THEN
    RETURN;
  END IF;
  locked := ARRAY(
    SELECT guild FROM (SELECT DISTINCT guild FROM unnest(p_guilds) AS guild LIMIT 100) AS named
     WHERE pg_try_advisory_xact_lock(hashtextextended('guildqueue.mark:' || guild, 0)));
  -- What this transaction itself did is added by whoever reads the mark.
  INSERT INTO guildqueue_mark (guild_id, priority, job_id, running, seen)
  SELECT guild, head.priority, head.id,
         CASE WHEN counts
              THEN guildqueue_n_running(guild)
                   - (SELECT coalesce(sum(delta), 0) FROM guildqueue_running_step
                       WHERE guild_id = guild AND by = pg_current_xact_id())
              ELSE coalesce(newest.running, 0) END,
         CASE WHEN counts THEN guildqueue_snapshot_of_others() ELSE newest.seen END
    FROM unnest(locked) AS guild
    LEFT JOIN LATERAL (SELECT * FROM guildqueue_mark WHERE guild_id = guild
                        ORDER BY id DESC LIMIT 1) AS newest ON true
    LEFT JOIN LATERAL (
          SELECT priority, id FROM guildqueue_job
           WHERE (newest.id IS NULL OR newest.priority IS NOT NULL)
             AND guild_id = guild AND bump_seq IS NULL
             AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
             AND (priority, id) >= (coalesce(newest.priority, -9223372036854775808),
                                    coalesce(newest.job_id, 0))
           ORDER BY bump_seq, priority, id LIMIT 1) AS head ON true
   CROSS JOIN LATERAL (SELECT coalesce(guild = ANY (p_counted), false) AS counts) AS count
   WHERE counts OR newest.id IS NULL
      OR (head.priority, head.id) IS DISTINCT FROM (newest.priority, newest.job_id);
  IF p_counted IS NOT NULL THEN
    -- Not before they were met, as they say that the jobs have to be counted.
    DELETE FROM guildqueue_running_step
     WHERE guild_id = ANY (locked) AND guild_id = ANY (p_counted) AND guildqueue_is_foreign(by);
  END IF;
END $$;

-- The same for what comes out of turn: where the lane begins, and whether a lost lease is flagged.
CREATE FUNCTION guildqueue_raise_lane() RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  newest guildqueue_mark;
  head bigint;
  is_lost boolean;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed'
     OR NOT pg_try_advisory_xact_lock(hashtextextended('guildqueue.mark:0', 0)) THEN
    RETURN;
  END IF;
  SELECT * INTO newest FROM guildqueue_mark WHERE guild_id = 0 ORDER BY id DESC LIMIT 1;
  is_lost := EXISTS (SELECT FROM guildqueue_job WHERE state = 'running' AND lost_at IS NOT NULL);
  IF newest.id IS NULL OR newest.priority IS NOT NULL THEN
    SELECT bump_seq INTO head FROM guildqueue_job
     WHERE bump_seq >= coalesce(newest.priority, -9223372036854775808)
       AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
     ORDER BY bump_seq, priority, id LIMIT 1;
  END IF;
  IF is_lost THEN
    head := coalesce(head, 9223372036854775807);
  END IF;
  IF newest.id IS NULL OR head IS DISTINCT FROM newest.priority
     OR newest.job_id IS DISTINCT FROM (CASE WHEN head IS NOT NULL THEN is_lost::int END) THEN
    INSERT INTO guildqueue_mark (guild_id, priority, job_id, running)
    VALUES (0, head, CASE WHEN head IS NOT NULL THEN is_lost::int END, 0);
  END IF;
END $$;
