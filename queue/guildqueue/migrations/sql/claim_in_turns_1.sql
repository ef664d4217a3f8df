-- part: in_scope
-- What the claim's filter lets through: word for word what store/sql/claim.sql says, of the scope.
   (p_scope.kinds IS NULL OR kind = ANY (p_scope.kinds))
   AND (p_scope.assignee_kind IS NULL OR assignee_kind = p_scope.assignee_kind)
   AND (p_scope.guilds IS NULL OR guild_id = ANY (p_scope.guilds))
   AND (p_scope.labels IS NULL OR labels @> p_scope.labels)
   AND (p_scope.any_labels IS NULL OR labels && p_scope.any_labels)
   AND (p_scope.min_priority IS NULL OR priority >= p_scope.min_priority)
   AND (p_scope.max_priority IS NULL OR priority <= p_scope.max_priority)
   AND (p_scope.session IS NULL OR session_id = p_scope.session)

-- part: can_start
   state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL

-- part: lease_ran_out
   lease_expires_at < clock_timestamp() AND attempt < max_attempts AND unmet = 0 AND NOT held

-- part: still_there
-- The job of the :line, still as it was seen, and locked; one that is locked by others is left out.
   FROM guildqueue_job
  WHERE ctid = line.tid AND id = line.id AND state = line.state
    AND bump_seq IS NOT DISTINCT FROM line.bump_seq
    AND CASE state WHEN 'pending' THEN
-- include: can_start
             ELSE
-- include: lease_ran_out
        END
    FOR NO KEY UPDATE SKIP LOCKED

-- name: claim_locks_1
-- The lane's first job that may start now, locked; null where there is none.
CREATE FUNCTION guildqueue_lock_lane(p_scope guildqueue_scope, p_from bigint, p_any_lost boolean)
RETURNS tid LANGUAGE plpgsql AS $$
DECLARE
  found tid;
BEGIN
  SELECT job.tid INTO found
    FROM ((SELECT ctid AS tid, id, guild_id, state, bump_seq, priority FROM guildqueue_job
            WHERE bump_seq >= p_from
              AND
-- include: can_start
              AND
-- include: in_scope
            ORDER BY bump_seq, priority, id)
          UNION ALL
          (SELECT ctid, id, guild_id, state, bump_seq, priority FROM guildqueue_job
            WHERE p_any_lost AND state = 'running' AND lost_at IS NOT NULL AND bump_seq IS NOT NULL
              AND
-- include: lease_ran_out
              AND
-- include: in_scope
            ORDER BY bump_seq, priority, id)
          ORDER BY bump_seq, priority, id) AS lane
   CROSS JOIN LATERAL (
         SELECT lane.* FROM guildqueue_guild AS guild
          WHERE guild.id = lane.guild_id AND held_at IS NULL
            AND (lane.state = 'running' OR coalesce(running_cap, p_scope.default_cap) IS NULL
                 OR guildqueue_has_slot(guild.id, coalesce(running_cap, p_scope.default_cap)))
         OFFSET 0) AS line
   CROSS JOIN LATERAL (SELECT ctid AS tid
-- include: still_there
         ) AS job
   LIMIT 1;
  RETURN found;
END $$;

-- Jobs of those guilds, locked: the first of each, then the second of each, up to p_rounds.
CREATE FUNCTION guildqueue_lock_heads(
  p_scope guildqueue_scope, p_any_lost boolean, p_turns guildqueue_turn[], p_rounds int)
RETURNS guildqueue_heads LANGUAGE plpgsql AS $$
DECLARE
  capped bigint[];
  heads guildqueue_heads;
BEGIN
  -- What runs is counted after that, by a statement that sees what was committed till then.
  capped := ARRAY(
    SELECT id FROM guildqueue_guild
     WHERE id = ANY (ARRAY(SELECT guild_id FROM unnest(p_turns) WHERE cap IS NOT NULL AND has_line))
       FOR NO KEY UPDATE SKIP LOCKED);

  SELECT array_agg(tid) FILTER (WHERE tid IS NOT NULL),
         array_agg(guild_id) FILTER (WHERE tid IS NOT NULL),
         -- Not each time: reading past a few dead versions costs less.
         array_agg(guild_id) FILTER (WHERE has_slot AND (tid IS NULL OR n_steps >= 8
                                                         OR random() < 0.25)),
         array_agg(guild_id) FILTER (WHERE has_slot AND n_steps >= 8)
    INTO heads
    FROM (SELECT turn.guild_id, has_slot, n_steps, head.tid
            FROM unnest(p_turns) WITH ORDINALITY
              AS turn (guild_id, cap, has_line, from_priority, from_id, running, seen, is_counted,
                       place)
           CROSS JOIN LATERAL (
                 SELECT count(*) FILTER (WHERE by IS DISTINCT FROM pg_current_xact_id_if_assigned())
                          AS n_new,
                        turn.running + coalesce(sum(delta), 0) AS n,
                        turn.is_counted AND NOT coalesce(bool_or(guildqueue_is_foreign(by)), false)
                          AS is_counted
                   FROM guildqueue_running_step
                  WHERE turn.cap IS NOT NULL AND turn.is_counted AND guild_id = turn.guild_id
                    AND by >= pg_snapshot_xmin(turn.seen)
                    AND NOT pg_visible_in_snapshot(by, turn.seen)) AS step
           CROSS JOIN LATERAL (
                 SELECT CASE WHEN turn.cap IS NULL THEN p_rounds
                             WHEN NOT turn.has_line OR turn.guild_id <> ALL (capped) THEN 0
                             WHEN step.is_counted THEN turn.cap - step.n
                             ELSE turn.cap - guildqueue_n_running(turn.guild_id) END AS n_free,
                        CASE WHEN turn.cap IS NULL THEN 0
                             WHEN step.is_counted THEN step.n_new ELSE 8 END AS n_steps
                 OFFSET 0) AS slots
           CROSS JOIN LATERAL (SELECT turn.has_line AND n_free > 0 AS has_slot OFFSET 0) AS free
            LEFT JOIN LATERAL (
                 SELECT row_number() OVER () AS round, locked.tid
                   FROM (SELECT job.tid
                           FROM ((SELECT ctid AS tid, id, state, bump_seq, priority
                                    FROM guildqueue_job
                                   WHERE has_slot AND guild_id = turn.guild_id AND bump_seq IS NULL
                                     AND (priority, id) >= (turn.from_priority, turn.from_id)
                                     AND
-- include: can_start
                                     AND
-- include: in_scope
                                   ORDER BY bump_seq, priority, id)
                                 UNION ALL
                                 (SELECT ctid, id, state, bump_seq, priority FROM guildqueue_job
                                   WHERE p_any_lost AND guild_id = turn.guild_id
                                     AND bump_seq IS NULL AND state = 'running'
                                     AND lost_at IS NOT NULL
                                     AND
-- include: lease_ran_out
                                     AND
-- include: in_scope
                                   ORDER BY bump_seq, priority, id)
                                 ORDER BY bump_seq, priority, id) AS line
                          CROSS JOIN LATERAL (SELECT ctid AS tid
-- include: still_there
                                ) AS job
                          LIMIT CASE WHEN p_any_lost THEN 1 ELSE greatest(0, least(p_rounds, n_free)) END
                        ) AS locked) AS head ON true
           ORDER BY round, place) AS taken;
  RETURN heads;
END $$;

-- name: claim_in_turns_1
-- Up to p_count jobs, as that many single claims would take them: the lane first, then guilds in
-- turn. One call, one round trip. It waits for no lock and passes over what others hold. Each
-- statement in it sees what was committed when it began, so that running jobs are counted after
-- their guild is locked.
-- A line is read from its newest mark on, so that the dead row versions of all that was claimed
-- before are not met again. Where a guild has nothing, the index tells which one has.
CREATE FUNCTION guildqueue_claim_in_turns_1(
  p_principal text, p_filter_hash text, p_request_id text, p_count int, p_ttl_s float8,
  p_default_cap int, p_kinds text[], p_assignee_kind text, p_guilds bigint[], p_labels text[],
  p_any_labels text[], p_min_priority bigint, p_max_priority bigint, p_session bigint)
RETURNS TABLE (
  id bigint, guild_id bigint, session_id bigint, kind text, assignee_kind text, state text,
  priority bigint, bump_seq bigint, bump_named boolean, unmet int, held boolean,
  run_after timestamptz, attempt int, max_attempts int, token bigint, lease_by text,
  lease_expires_at timestamptz, progress float8, labels text[], payload jsonb, result jsonb,
  error text, audio_seconds float8, external_id text, created_at timestamptz,
  started_at timestamptz, finished_at timestamptz, needs bigint[])
LANGUAGE plpgsql ROWS 1
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashagg = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off SET enable_memoize = off AS $$
#variable_conflict use_column
DECLARE
  last_guild CONSTANT bigint := 9223372036854775807;
  scope guildqueue_scope := ROW(
    p_default_cap, p_kinds, p_assignee_kind, p_guilds, p_labels, p_any_labels, p_min_priority,
    p_max_priority, p_session);
  turn bigint;               -- the guild of the last turn
  turn_before bigint;
  lane_from bigint;
  is_in_lane boolean;        -- whether the lane may still have a job for this call
  any_lost boolean;
  n_left int := p_count;
  place bigint;              -- the guild looked at last, in the walk that ends at the turn
  stop bigint;
  look int;                  -- how many guilds are looked at before the index is asked
  turns guildqueue_turn[];
  more guildqueue_turn[];
  heads guildqueue_heads;
BEGIN
  SELECT coalesce((SELECT guild_id FROM guildqueue_claim_cursor
                    WHERE principal = p_principal AND filter_hash = p_filter_hash
                    ORDER BY id DESC LIMIT 1), 0),
         lane.guild_id IS NULL OR lane.priority IS NOT NULL,
         coalesce(lane.priority, -9223372036854775808),
         lane.guild_id IS NULL OR coalesce(lane.job_id = 1, false)
    INTO turn, is_in_lane, lane_from, any_lost
    FROM (VALUES (1)) AS one
    LEFT JOIN LATERAL (SELECT * FROM guildqueue_mark WHERE guild_id = 0
                        ORDER BY id DESC LIMIT 1) AS lane ON true;
  IF any_lost THEN
    any_lost := EXISTS (SELECT FROM guildqueue_job WHERE state = 'running' AND lost_at IS NOT NULL);
  END IF;
  turn_before := turn;
  place := turn;
  stop := last_guild;

  WHILE n_left > 0 LOOP
    IF is_in_lane THEN  -- which uses up no turn
      heads.tids := ARRAY[guildqueue_lock_lane(scope, lane_from, any_lost)];
      is_in_lane := heads.tids[1] IS NOT NULL;
      IF NOT is_in_lane THEN
        PERFORM guildqueue_raise_lane();
        CONTINUE;
      END IF;
    ELSE
      turns := '{}';
      look := greatest(n_left, 4);
      LOOP
        more := guildqueue_next_turns(scope, any_lost, place, stop, n_left - cardinality(turns), look);
        turns := turns || more;
        EXIT WHEN cardinality(turns) = n_left;
        IF p_guilds IS NULL THEN
          place := guildqueue_look_ahead(place, look);
          look := 4;
          CONTINUE WHEN place < stop;
        END IF;
        EXIT WHEN stop <> last_guild;  -- all round
        stop := turn;
        place := 0;
      END LOOP;
      EXIT WHEN cardinality(turns) = 0;
      place := turns[cardinality(turns)].guild_id;
      heads := guildqueue_lock_heads(
        scope, any_lost, turns,
        CASE WHEN any_lost THEN 1 ELSE ceil(n_left::float8 / cardinality(turns)) END::int);
      IF heads.tids IS NULL THEN
        PERFORM guildqueue_raise_marks(heads.behind, heads.uncounted);
        CONTINUE;
      END IF;
      heads.tids := heads.tids[:n_left];
    END IF;

    RETURN QUERY
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lost_at = NULL, lease_by = p_principal, request_id = p_request_id,
           started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => p_ttl_s)
      FROM unnest(heads.tids) AS head (tid)
     WHERE job.ctid = head.tid
    RETURNING job.id, job.guild_id, job.session_id, job.kind, job.assignee_kind, job.state,
              job.priority, job.bump_seq, job.bump_named, job.unmet, job.held, job.run_after,
              job.attempt, job.max_attempts, job.token, job.lease_by, job.lease_expires_at,
              job.progress, job.labels, job.payload, job.result, job.error, job.audio_seconds,
              job.external_id, job.created_at, job.started_at, job.finished_at,
              ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id);
    n_left := n_left - cardinality(heads.tids);
    IF is_in_lane THEN
      PERFORM guildqueue_raise_lane();
    ELSE
      turn := heads.guilds[cardinality(heads.tids)];
      place := turn;
      stop := last_guild;
      IF heads.behind IS NOT NULL THEN
        PERFORM guildqueue_raise_marks(heads.behind, heads.uncounted);
      END IF;
    END IF;
  END LOOP;
  -- A turn that leaves the cursor where it is writes nothing.
  IF turn <> turn_before THEN
    INSERT INTO guildqueue_claim_cursor (principal, filter_hash, guild_id)
    VALUES (p_principal, p_filter_hash, turn);
  END IF;
END $$;
