-- name: complete_jobs_1
-- End jobs as done, whatever guilds they are of, and count them off wherever they are needed. A job
-- whose lease is not the principal's under the token any more is left as it is.
-- Locks, as everywhere: what guards dependencies by guild, shared; the jobs and all that need them in
-- ascending id; then the marks of those that this makes claimable, by guild.
CREATE FUNCTION guildqueue_complete_jobs_1(
  p_principal text, p_jobs bigint[], p_tokens bigint[], p_results jsonb[],
  p_audio_seconds float8[])
RETURNS TABLE (id bigint, is_done boolean, is_needed boolean)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  dependents bigint[];
  done bigint[];
  freed record;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('guildqueue.needs:' || guild_id, 0))
     FROM (SELECT DISTINCT guild_id FROM guildqueue_job WHERE id = ANY (p_jobs)
            ORDER BY guild_id) AS guild;
  dependents := ARRAY(SELECT job_id FROM guildqueue_job_dependency WHERE needs_id = ANY (p_jobs));
  IF dependents <> '{}' THEN
    PERFORM FROM guildqueue_job WHERE id = ANY (p_jobs || dependents) ORDER BY id FOR NO KEY UPDATE;
  END IF;

  WITH ended AS (
    UPDATE guildqueue_job AS job
       SET state = 'done', progress = 1, result = given.result, error = NULL,
           audio_seconds = coalesce(given.audio_seconds, job.audio_seconds),
           bump_seq = NULL, bump_named = false, lease_by = NULL, lease_expires_at = NULL,
           finished_at = clock_timestamp()
      FROM (SELECT * FROM unnest(p_jobs, p_tokens, p_results, p_audio_seconds)
              AS given (id, token, result, audio_seconds) ORDER BY id) AS given
     WHERE job.id = given.id
       AND job.state = 'running' AND job.token = given.token AND job.lease_by = p_principal
    RETURNING job.id
  )
  SELECT coalesce(array_agg(id), '{}') INTO done FROM ended;

  IF dependents <> '{}' THEN
    UPDATE guildqueue_job AS job
       SET unmet = job.unmet - met.n
      FROM (SELECT job_id, count(*) AS n FROM guildqueue_job_dependency
             WHERE needs_id = ANY (done) GROUP BY job_id) AS met
     WHERE job.id = met.job_id AND job.id <> ALL (done);
    -- At once and not at commit: guild by guild, and so that a claim that follows here finds them.
    FOR freed IN
      SELECT guild_id, priority, id, bump_seq FROM guildqueue_job
       WHERE id = ANY (dependents)
         AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
       ORDER BY guild_id, bump_seq DESC
    LOOP
      IF freed.bump_seq IS NULL THEN
        PERFORM guildqueue_lower_mark(freed.guild_id, freed.priority, freed.id);
      ELSE
        PERFORM pg_advisory_xact_lock(hashtextextended('guildqueue.mark:' || freed.guild_id, 0));
      END IF;
    END LOOP;
    FOR freed IN
      SELECT bump_seq FROM guildqueue_job
       WHERE id = ANY (dependents) AND bump_seq IS NOT NULL
         AND state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL
    LOOP
      PERFORM guildqueue_lower_mark(0, freed.bump_seq, 0);
    END LOOP;
  END IF;
  RETURN QUERY
  SELECT given.id, given.id = ANY (done),
         dependents <> '{}'
         AND EXISTS (SELECT FROM guildqueue_job_dependency WHERE needs_id = given.id)
    FROM unnest(p_jobs) AS given (id);
END $$;
