-- The statements of the release whose newest migration was 0003_turns, as it sent them: during a
-- rolling upgrade its workers and consoles send them to the schema of this release. Frozen, so they
-- are never brought up to date; once no such release can be running, a later one's take their place.

-- name: share_needs
SELECT pg_advisory_xact_lock_shared(
    hashtextextended('guildqueue.needs:' || %(guild_id)s::bigint, 0));

-- name: insert_session
INSERT INTO guildqueue_session (guild_id, external_id, title, recording, started_at)
VALUES (%(guild_id)s, %(external_id)s, %(title)s, %(recording)s, %(started_at)s)
ON CONFLICT (guild_id, external_id) DO NOTHING
RETURNING id;

-- name: insert_participants
INSERT INTO guildqueue_participant (guild_id, session_id, name, user_id)
SELECT %(guild_id)s, %(session_id)s, person.name, person.user_id
  FROM unnest(%(names)s::text[], %(user_ids)s::text[]) WITH ORDINALITY
       AS person (name, user_id, place)
 ORDER BY place;

-- name: insert_tracks
WITH inserted AS (
    INSERT INTO guildqueue_job (
        guild_id, session_id, kind, priority, held, payload, audio_seconds, max_attempts)
    SELECT %(guild_id)s, %(session_id)s, 'transcribe', %(priority)s, %(held)s, track.payload,
           track.audio_seconds, %(max_attempts)s
      FROM unnest(%(payloads)s::jsonb[], %(audio_seconds)s::float8[]) WITH ORDINALITY
           AS track (payload, audio_seconds, place)
     ORDER BY place
    RETURNING id
)
SELECT id FROM inserted ORDER BY id;

-- name: insert_document
INSERT INTO guildqueue_job (guild_id, session_id, kind, priority, held, payload, max_attempts)
VALUES (%(guild_id)s, %(session_id)s, 'document', %(priority)s, %(held)s, %(payload)s::jsonb,
        %(max_attempts)s)
RETURNING id;

-- name: insert_needs
INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)
SELECT %(guild_id)s, %(job_id)s, needs_id FROM unnest(%(needs)s::bigint[]) AS needs_id
ON CONFLICT (job_id, needs_id) DO NOTHING;

-- name: recount_needs
UPDATE guildqueue_job AS job
   SET unmet = (SELECT count(*)
                  FROM guildqueue_job_dependency AS dependency
                  JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
                 WHERE dependency.job_id = job.id AND needed.state <> 'done')
 WHERE job.guild_id = %(guild_id)s
   AND job.id = ANY (%(job_ids)s::bigint[]);

-- name: cancel_jobs
UPDATE guildqueue_job
   SET state = 'cancelled', bump_seq = NULL, bump_named = false, lease_by = NULL,
       lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[])
   AND state IN ('pending', 'running')
RETURNING id;

-- name: bury_lost_jobs
WITH lost AS MATERIALIZED (
    SELECT id
      FROM guildqueue_job
     WHERE state = 'running'
       AND lease_expires_at < clock_timestamp()
       AND attempt >= max_attempts
     ORDER BY bump_seq, priority, id
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE guildqueue_job
   SET state = 'dead', bump_seq = NULL, bump_named = false,
       error = 'the worker ' || lease_by || ' was lost at attempt ' || attempt || ' of '
               || max_attempts,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE id = ANY (ARRAY(SELECT id FROM lost));

-- part: take_in_line
line AS (
    (SELECT id, bump_seq, priority FROM candidate
      WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority
       FROM (SELECT id, bump_seq, priority FROM candidate
              WHERE state = 'pending' AND unmet = 0 AND NOT held
                AND run_after <= statement_timestamp()
              ORDER BY run_after OFFSET 0) AS due
      ORDER BY bump_seq, priority, id)
    UNION ALL
    (SELECT id, bump_seq, priority FROM candidate
      WHERE state = 'running' AND lease_expires_at < statement_timestamp()
        AND attempt < max_attempts
      ORDER BY bump_seq, priority, id)
),
taken AS MATERIALIZED (
    SELECT job.id
      FROM (SELECT id, bump_seq, priority FROM line ORDER BY bump_seq, priority, id) AS line
      JOIN guildqueue_job AS job ON job.id = line.id
     WHERE NOT job.held AND job.unmet = 0
       AND CASE job.state
           WHEN 'pending' THEN job.run_after IS NULL OR job.run_after <= statement_timestamp()
           WHEN 'running' THEN job.lease_expires_at < statement_timestamp()
                               AND job.attempt < job.max_attempts
           ELSE false END
     ORDER BY line.bump_seq, line.priority, line.id
     LIMIT %(count)s
       FOR NO KEY UPDATE OF job SKIP LOCKED
),
claimed AS (
    UPDATE guildqueue_job AS job
       SET state = 'running', attempt = attempt + 1, token = token + 1, progress = 0,
           run_after = NULL, lease_by = %(principal)s, started_at = clock_timestamp(),
           lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s)
     WHERE job.id = ANY (ARRAY(SELECT id FROM taken))
    RETURNING job.*
)
SELECT claimed.*,
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency WHERE job_id = claimed.id) AS needs
  FROM claimed;

-- name: claim_jobs
WITH candidate AS NOT MATERIALIZED (
    SELECT id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at, attempt,
           max_attempts
      FROM guildqueue_job
     WHERE kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
       AND (%(guilds)s::bigint[] IS NULL OR guild_id = ANY (%(guilds)s::bigint[]))
       AND guild_id <> ALL (ARRAY(SELECT id FROM guildqueue_guild WHERE held_at IS NOT NULL))
),
-- include: take_in_line

-- name: claim_turn
WITH candidate AS NOT MATERIALIZED (
    SELECT id, bump_seq, priority, state, unmet, held, run_after, lease_expires_at, attempt,
           max_attempts
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s
       AND kind = ANY (%(kinds)s::text[])
       AND assignee_kind = 'worker'
),
-- include: take_in_line

-- name: extend_lease
UPDATE guildqueue_job
   SET lease_expires_at = clock_timestamp() + make_interval(secs => %(ttl_s)s),
       progress = coalesce(%(progress)s::float8, progress)
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
RETURNING lease_expires_at;

-- name: lock_with_dependents
SELECT id
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND id = ANY (ARRAY(SELECT job_id FROM guildqueue_job_dependency
                        WHERE needs_id = %(job_id)s) || %(job_id)s::bigint)
 ORDER BY id
   FOR NO KEY UPDATE;

-- name: complete_job
WITH ended AS (
    UPDATE guildqueue_job
       SET state = 'done', progress = 1, result = %(result)s::jsonb, error = NULL,
           audio_seconds = coalesce(%(audio_seconds)s::float8, audio_seconds),
           bump_seq = NULL, bump_named = false, lease_by = NULL, lease_expires_at = NULL,
           finished_at = clock_timestamp()
     WHERE guild_id = %(guild_id)s AND id = %(job_id)s
       AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
    RETURNING id
),
counted_off AS (
    UPDATE guildqueue_job AS job
       SET unmet = job.unmet - 1
      FROM guildqueue_job_dependency AS dependency, ended
     WHERE dependency.needs_id = ended.id
       AND job.id = dependency.job_id
       AND job.guild_id = %(guild_id)s
)
SELECT id FROM ended;

-- name: lock_lease
SELECT attempt, max_attempts
  FROM guildqueue_job
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
   FOR NO KEY UPDATE;

-- name: retry_job
UPDATE guildqueue_job
   SET state = 'pending', progress = 0, error = %(error)s, lease_by = NULL,
       lease_expires_at = NULL,
       run_after = clock_timestamp() + make_interval(secs => %(delay_s)s)
 WHERE id = %(job_id)s;

-- name: bury_job
UPDATE guildqueue_job
   SET state = 'dead', error = %(error)s, bump_seq = NULL, bump_named = false,
       lease_by = NULL, lease_expires_at = NULL, finished_at = clock_timestamp()
 WHERE id = %(job_id)s;

-- name: release_job
UPDATE guildqueue_job
   SET state = 'pending', progress = 0, attempt = attempt - 1, lease_by = NULL,
       lease_expires_at = NULL, started_at = NULL
 WHERE id = %(job_id)s AND state = 'running' AND token = %(token)s AND lease_by = %(principal)s
RETURNING id;
