-- The lane: what runs next. What writes, and what is read to decide on it, runs under the guild's
-- order lock, which whoever adds a job or a dependency to the guild takes too.

-- name: find_lane_jobs
-- The ids that a lane request concerns: every job in the lane and every target, with all they need,
-- transitively, down to the first ended job, which is read and not looked behind. Ascending.
-- UNION drops what was found before, so a ring ends. LATERAL with ORDER BY keeps each step at the
-- needs of what the last one found, by their index: else 1,000 of them read a small table of
-- dependencies 1,000 times over, 280 ms. Locks: none. Index: job_lane, then the primary key and
-- job_dependency_once.
WITH RECURSIVE concerned (id, has_ended) AS (
    SELECT id, state IN ('done', 'dead', 'cancelled')
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s AND bump_seq IS NOT NULL
    UNION
    SELECT id, state IN ('done', 'dead', 'cancelled')
      FROM guildqueue_job
     WHERE guild_id = %(guild_id)s AND id = ANY (%(targets)s::bigint[])
    UNION
    SELECT needed.id, needed.state IN ('done', 'dead', 'cancelled')
      FROM concerned
     CROSS JOIN LATERAL (SELECT needs_id
                           FROM guildqueue_job_dependency
                          WHERE job_id = concerned.id
                          ORDER BY needs_id) AS dependency
      JOIN guildqueue_job AS needed
        ON needed.id = dependency.needs_id AND needed.guild_id = %(guild_id)s
     WHERE NOT concerned.has_ended
)
SELECT id FROM concerned ORDER BY id;

-- name: lock_lane_jobs
-- Locks: those of the rows that have not ended, FOR NO KEY UPDATE in ascending id. It waits for a
-- claim that has one of them; a claim passes over them meanwhile. NO KEY, so that a job that comes
-- to need one of them does not wait.
SELECT id FROM guildqueue_job
 WHERE guild_id = %(guild_id)s
   AND id = ANY (%(job_ids)s::bigint[])
   AND state NOT IN ('done', 'dead', 'cancelled')
 ORDER BY id
   FOR NO KEY UPDATE;

-- name: read_lane_jobs
-- The jobs as they are now that they are locked, ascending.
SELECT job.id, job.kind, job.state, job.priority, job.bump_seq, job.bump_named,
       ARRAY(SELECT needs_id FROM guildqueue_job_dependency
              WHERE job_id = job.id ORDER BY needs_id) AS needs
  FROM guildqueue_job AS job
 WHERE job.guild_id = %(guild_id)s AND job.id = ANY (%(job_ids)s::bigint[])
 ORDER BY job.id;

-- name: leave_lane
-- The locked jobs lose number and name.
UPDATE guildqueue_job SET bump_seq = NULL, bump_named = false
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[]);

-- name: enter_lane
-- The locked jobs enter, each with the next number, in the order given. MATERIALIZED, so that each
-- draws one number, in that order, however the two are joined.
WITH entering AS MATERIALIZED (
    SELECT id, nextval('guildqueue_bump_seq') AS bump_seq
      FROM (SELECT id FROM unnest(%(job_ids)s::bigint[]) WITH ORDINALITY AS given (id, place)
             ORDER BY place) AS in_order
)
UPDATE guildqueue_job AS job
   SET bump_seq = entering.bump_seq, bumped_at = clock_timestamp(), bumped_by = %(by)s,
       bump_reason = %(reason)s
  FROM entering
 WHERE job.guild_id = %(guild_id)s AND job.id = entering.id;

-- name: name_in_lane
-- The locked jobs, which have a number by now, are there by name.
UPDATE guildqueue_job
   SET bump_named = true, bumped_at = clock_timestamp(), bumped_by = %(by)s,
       bump_reason = %(reason)s
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[]);

-- name: read_lane_session
-- The session's outstanding jobs, or all of its jobs where none is, in claim order.
-- Index: job_session.
SELECT id
  FROM (SELECT job.id, job.bump_seq, job.priority,
               state IN ('pending', 'running') AS is_outstanding,
               bool_or(state IN ('pending', 'running')) OVER () AS any_is_outstanding
          FROM guildqueue_job AS job
         WHERE job.guild_id = %(guild_id)s AND job.session_id = %(session_id)s) AS of_session
 WHERE is_outstanding = any_is_outstanding
 ORDER BY bump_seq, priority, id;

-- name: read_lane_targets
-- What the record of a request says of its targets: their session, and what keeps a pending one
-- from running although it runs next. Ascending. Index: the primary key; job_running_guild for the cap.
SELECT job.id, job.session_id, session.title,
       CASE WHEN job.state <> 'pending' THEN NULL
            WHEN job.held OR guild.held_at IS NOT NULL THEN 'hold'
            WHEN job.run_after > clock_timestamp() THEN 'not-before'
            WHEN guild.running_cap <= (SELECT count(*) FROM guildqueue_job AS running
                                        WHERE running.guild_id = %(guild_id)s
                                          AND running.state = 'running') THEN 'cap'
       END AS gate
  FROM guildqueue_job AS job
  JOIN guildqueue_session AS session ON session.id = job.session_id
  JOIN guildqueue_guild AS guild ON guild.id = job.guild_id
 WHERE job.guild_id = %(guild_id)s AND job.id = ANY (%(job_ids)s::bigint[])
 ORDER BY job.id;

-- name: read_lane_notes
-- The lane as it is shown: its jobs in their order, and who let them run next.
-- Locks: none. Index: job_lane.
SELECT job.id, job.session_id, job.kind, job.state, job.bump_seq, job.bump_named, job.bumped_at,
       job.bumped_by, job.bump_reason, session.title,
       coalesce(job.payload ->> 'name', '') AS name
  FROM guildqueue_job AS job
  JOIN guildqueue_session AS session
    ON session.id = job.session_id AND session.guild_id = job.guild_id
 WHERE job.guild_id = %(guild_id)s AND job.bump_seq IS NOT NULL
 ORDER BY job.bump_seq;

-- name: read_unplaced_jobs
-- Outstanding jobs of a kind that this release does not know, which it never claims: they have no
-- place in line. Ascending. Index: job_outstanding.
SELECT job.id, job.session_id, job.kind, job.state, session.title,
       coalesce(job.payload ->> 'name', '') AS name
  FROM guildqueue_job AS job
  JOIN guildqueue_session AS session
    ON session.id = job.session_id AND session.guild_id = job.guild_id
 WHERE job.guild_id = %(guild_id)s
   AND job.state IN ('pending', 'running')
   AND job.kind <> ALL (%(kinds)s::text[])
 ORDER BY job.id
 LIMIT %(limit)s;

-- name: read_ended_at
-- When jobs last ended, one row a job that is there: null for one that never did.
SELECT id, coalesce(finished_at, last_ended_at) AS ended_at
  FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND id = ANY (%(job_ids)s::bigint[]);
