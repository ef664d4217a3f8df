-- part: in_scope
-- What the claim's filter lets through: word for word what store/sql/claim.sql says, of p_ variables.
   (p_kinds IS NULL OR kind = ANY (p_kinds))
   AND (p_assignee_kind IS NULL OR assignee_kind = p_assignee_kind)
   AND (p_guilds IS NULL OR guild_id = ANY (p_guilds))
   AND (p_labels IS NULL OR labels @> p_labels)
   AND (p_any_labels IS NULL OR labels && p_any_labels)
   AND (p_min_priority IS NULL OR priority >= p_min_priority)
   AND (p_max_priority IS NULL OR priority <= p_max_priority)
   AND (p_session IS NULL OR session_id = p_session)

-- part: lease_ran_out
   lease_expires_at < clock_timestamp() AND attempt < max_attempts AND unmet = 0 AND NOT held

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
  turn bigint;               -- the guild of the last turn
  turn_before bigint;
  lane_from bigint;
  lane_open boolean;         -- whether the lane may still have a job for this call
  any_lost boolean;
  locked bigint[] := '{}';   -- the guilds whose slots are this call's to give
  at_guild bigint;           -- what was taken last outside the lane
  at_priority bigint;
  at_id bigint;
  place bigint;              -- the guild looked at last
  has_wrapped boolean;
  n_misses int;
  first_guild bigint;
  from_priority bigint;
  from_id bigint;
  line record;
  lost_priority bigint;      -- the first lost lease of the guild
  lost_id bigint;
  head record;
  found_slot boolean;
  n_steps bigint;            -- of which the guild's mark does not know
BEGIN
  SELECT guild_id INTO turn FROM guildqueue_claim_cursor
   WHERE principal = p_principal AND filter_hash = p_filter_hash ORDER BY id DESC LIMIT 1;
  turn_before := turn;
  turn := coalesce(turn, 0);
  SELECT priority IS NOT NULL, priority, coalesce(job_id = 1, false)
    INTO lane_open, lane_from, any_lost
    FROM guildqueue_mark WHERE guild_id = 0 ORDER BY id DESC LIMIT 1;
  IF NOT FOUND THEN
    lane_open := true;
    lane_from := -9223372036854775808;
    any_lost := true;
  END IF;
  any_lost := any_lost AND EXISTS (SELECT FROM guildqueue_job
                                    WHERE state = 'running' AND lost_at IS NOT NULL);

  FOR n IN 1..p_count LOOP
    head := NULL;

    -- The lane, which uses up no turn.
    IF lane_open THEN
      FOR line IN
        SELECT job.id, job.guild_id, job.state, guild.cap
          FROM ((SELECT id, guild_id, state, bump_seq, priority FROM guildqueue_job
                  WHERE bump_seq >= lane_from
                    AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
                    AND
-- include: in_scope
                  ORDER BY bump_seq, priority, id)
                UNION ALL
                (SELECT id, guild_id, state, bump_seq, priority FROM guildqueue_job
                  WHERE state = 'running' AND lost_at IS NOT NULL AND bump_seq IS NOT NULL
                    AND
-- include: lease_ran_out
                    AND
-- include: in_scope
                  ORDER BY bump_seq, priority, id)
                ORDER BY bump_seq, priority, id) AS job
         CROSS JOIN LATERAL (SELECT coalesce(running_cap, p_default_cap) AS cap, held_at
                               FROM guildqueue_guild WHERE id = job.guild_id OFFSET 0) AS guild
         WHERE guild.held_at IS NULL
      LOOP
        IF line.state = 'pending' AND line.cap IS NOT NULL THEN
          found_slot := guildqueue_has_slot(line.guild_id, line.cap, line.guild_id = ANY (locked));
          CONTINUE WHEN found_slot IS NOT true;
          locked := locked || line.guild_id;
        END IF;
        SELECT ctid AS tid, guild_id, priority, id, bump_seq INTO head FROM guildqueue_job
         WHERE id = line.id AND state = line.state AND bump_seq IS NOT NULL AND unmet = 0 AND NOT held
           AND CASE state WHEN 'pending' THEN run_after IS NULL
                    ELSE lease_expires_at < clock_timestamp() AND attempt < max_attempts END
           FOR NO KEY UPDATE SKIP LOCKED;
        EXIT WHEN FOUND;
        head := NULL;
      END LOOP;
      IF head IS NULL THEN
        lane_open := false;
        PERFORM guildqueue_raise_lane();
      END IF;
    END IF;

    -- Else the next guild in turn that has a job for this call.
    IF head IS NULL THEN
      place := turn;
      has_wrapped := false;
      n_misses := 0;
      <<walk>>
      LOOP
        IF p_guilds IS NULL THEN
          first_guild := place + 1;
        ELSE
          SELECT min(named) INTO first_guild FROM unnest(p_guilds) AS named WHERE named > place;
        END IF;
        SELECT guild.id, guild.held_at IS NOT NULL AS is_held,
               coalesce(guild.running_cap, p_default_cap) AS cap,
               mark.guild_id IS NOT NULL AND mark.priority IS NULL AS is_empty,
               coalesce(mark.priority, -9223372036854775808) AS priority,
               coalesce(mark.job_id, 0) AS job_id,
               guild.ctid AS tid, mark.seen, coalesce(mark.running, 0) AS running,
               mark.seen IS NULL OR pg_snapshot_xmax(mark.seen)
                                    > pg_snapshot_xmax(pg_current_snapshot()) AS is_uncounted
          INTO line
          FROM guildqueue_guild AS guild
          LEFT JOIN LATERAL (SELECT * FROM guildqueue_mark WHERE guild_id = guild.id
                              ORDER BY id DESC LIMIT 1) AS mark ON true
         WHERE guild.id >= first_guild
         ORDER BY guild.id LIMIT 1;
        IF NOT FOUND OR (has_wrapped AND line.id > turn) THEN
          EXIT walk WHEN has_wrapped;
          has_wrapped := true;
          place := 0;
          CONTINUE walk;
        END IF;
        place := line.id;
        IF p_guilds IS NOT NULL AND line.id <> first_guild THEN
          place := first_guild;  -- which does not exist
          CONTINUE walk;
        END IF;

        IF NOT line.is_held THEN
          lost_priority := 9223372036854775807;
          lost_id := NULL;
          IF any_lost THEN
            SELECT priority, id INTO lost_priority, lost_id FROM guildqueue_job
             WHERE guild_id = line.id AND bump_seq IS NULL AND state = 'running' AND lost_at IS NOT NULL
               AND
-- include: lease_ran_out
               AND
-- include: in_scope
             ORDER BY bump_seq, priority, id LIMIT 1;
            lost_priority := coalesce(lost_priority, 9223372036854775807);
          END IF;
          found_slot := NOT line.is_empty;
          n_steps := 0;
          IF found_slot AND line.cap IS NOT NULL THEN
            -- A guild that its mark calls full is not locked before the count says otherwise.
            IF line.is_uncounted OR line.running >= line.cap THEN
              found_slot := guildqueue_n_running(line.id) < line.cap;
            END IF;
            IF found_slot AND line.id <> ALL (locked) THEN
              PERFORM FROM guildqueue_guild WHERE ctid = line.tid AND id = line.id
                 FOR NO KEY UPDATE SKIP LOCKED;
              found_slot := FOUND;
            END IF;
            IF found_slot THEN
              locked := locked || line.id;
              SELECT count(*) FILTER (WHERE by IS DISTINCT FROM pg_current_xact_id_if_assigned()),
                     line.running + coalesce(sum(delta), 0) < line.cap,
                     line.is_uncounted OR coalesce(bool_or(guildqueue_is_foreign(by)), false)
                INTO n_steps, found_slot, line.is_uncounted
                FROM guildqueue_running_step
               WHERE guild_id = line.id
                 AND by >= coalesce(pg_snapshot_xmin(line.seen), '0'::xid8)
                 AND NOT coalesce(pg_visible_in_snapshot(by, line.seen), false);
              IF line.is_uncounted THEN
                found_slot := guildqueue_n_running(line.id) < line.cap;
                n_steps := 8;
              END IF;
            END IF;
          END IF;
          from_priority := line.priority;
          from_id := line.job_id;
          IF at_guild = line.id AND (at_priority, at_id) > (from_priority, from_id) THEN
            from_priority := at_priority;
            from_id := at_id;
          END IF;
          LOOP
            IF found_slot THEN
              SELECT ctid AS tid, guild_id, priority, id, bump_seq INTO head FROM guildqueue_job
               WHERE guild_id = line.id AND bump_seq IS NULL
                 AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
                 AND (priority, id) >= (from_priority, from_id)
                 AND (priority, id) < (lost_priority, coalesce(lost_id, 9223372036854775807))
                 AND
-- include: in_scope
               ORDER BY bump_seq, priority, id LIMIT 1
                 FOR NO KEY UPDATE SKIP LOCKED;
              EXIT walk WHEN FOUND;
            END IF;
            EXIT WHEN lost_id IS NULL;
            -- A lost lease keeps its slot, and needs no free one.
            SELECT ctid AS tid, guild_id, priority, id, bump_seq INTO head FROM guildqueue_job
             WHERE id = lost_id AND bump_seq IS NULL AND state = 'running'
               AND
-- include: lease_ran_out
               FOR NO KEY UPDATE SKIP LOCKED;
            EXIT walk WHEN FOUND;
            lost_priority := 9223372036854775807;
            lost_id := NULL;
          END LOOP;
          IF found_slot THEN
            PERFORM guildqueue_raise_mark(line.id, false);
          END IF;
        END IF;

        -- Nothing here. A few more by their marks, which an old snapshot does not lengthen; then
        -- the next guild in which anything stands, by the index, however many have nothing.
        head := NULL;
        n_misses := n_misses + 1;
        IF p_guilds IS NULL AND n_misses % 4 = 0 THEN
          SELECT coalesce(least(
                   (SELECT guild_id FROM guildqueue_job
                     WHERE guild_id > place AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
                     ORDER BY guild_id, bump_seq, priority, id LIMIT 1),
                   (SELECT guild_id FROM guildqueue_job
                     WHERE guild_id > place AND bump_seq IS NULL AND state = 'running' AND lost_at IS NOT NULL
                     ORDER BY guild_id, bump_seq, priority, id LIMIT 1)) - 1, 9223372036854775806)
            INTO place;
        END IF;
      END LOOP;
    END IF;
    EXIT WHEN head IS NULL;

    RETURN QUERY
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lost_at = NULL, lease_by = p_principal, request_id = p_request_id,
           started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => p_ttl_s)
     WHERE job.ctid = head.tid
    RETURNING job.id, job.guild_id, job.session_id, job.kind, job.assignee_kind, job.state,
              job.priority, job.bump_seq, job.bump_named, job.unmet, job.held, job.run_after,
              job.attempt, job.max_attempts, job.token, job.lease_by, job.lease_expires_at,
              job.progress, job.labels, job.payload, job.result, job.error, job.audio_seconds,
              job.external_id, job.created_at, job.started_at, job.finished_at,
              ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = job.id);
    IF head.bump_seq IS NULL THEN
      turn := head.guild_id;
      at_guild := head.guild_id;
      at_priority := head.priority;
      at_id := head.id;
      -- Not each time: reading past a few dead versions costs less.
      IF n_steps >= 8 OR random() < 0.25 THEN
        PERFORM guildqueue_raise_mark(head.guild_id, n_steps >= 8);
      END IF;
    ELSE
      PERFORM guildqueue_raise_lane();
    END IF;
  END LOOP;
  -- A turn that leaves the cursor where it is writes nothing.
  IF turn > 0 AND turn IS DISTINCT FROM turn_before THEN
    INSERT INTO guildqueue_claim_cursor (principal, filter_hash, guild_id)
    VALUES (p_principal, p_filter_hash, turn);
  END IF;
END $$;
