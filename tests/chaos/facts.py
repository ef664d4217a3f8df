"""What the database says when all is over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg

# Every end of a job, noted by the database itself. Only ever added to.
NOTE_ENDINGS = """
CREATE TABLE chaos_ending (job_id bigint NOT NULL, was text NOT NULL, state text NOT NULL);
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_ending VALUES (new.id, old.state, new.state);
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_note AFTER UPDATE OF state ON guildqueue_job FOR EACH ROW
  WHEN (old.state IN ('done', 'dead', 'cancelled') OR new.state IN ('done', 'dead', 'cancelled'))
  EXECUTE FUNCTION chaos_note();
"""
JOBS = """
SELECT id, guild_id AS guild, state, token, attempt, max_attempts, unmet, error,
       coalesce(payload->>'uri', 'plain') AS temper, result->>'by' AS done_by,
       (result->>'token')::bigint AS done_under, (payload->>'not_before')::float8 AS not_before
  FROM guildqueue_job ORDER BY id
"""
TOO_EARLY = """
SELECT job.id FROM guildqueue_job AS job
  JOIN guildqueue_job_dependency AS dependency ON dependency.job_id = job.id
  JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
 WHERE job.started_at IS NOT NULL
   AND (needed.state <> 'done' OR job.started_at < needed.finished_at)
"""
COUNTERS = """
SELECT guild_id, state FROM (
    SELECT guild_id, state, sum(delta) AS n FROM guildqueue_guild_count GROUP BY 1, 2
     UNION ALL
    SELECT guild_id, state, -count(*) FROM guildqueue_job
     WHERE state NOT IN ('pending', 'running') GROUP BY 1, 2) AS both_ways
 GROUP BY guild_id, state HAVING sum(n) <> 0
"""
LEDGER = """
SELECT type, (jsonb_array_elements_text(changed->'jobs'))::bigint FROM guildqueue_queue_event
"""


class JobFact(NamedTuple):
    """A job as it is stored in the end."""

    id: int
    guild: int
    state: str
    token: int
    attempt: int
    max_attempts: int
    unmet: int
    error: str | None
    temper: str
    done_by: str | None
    done_under: int | None
    not_before: float | None


@dataclass(frozen=True, slots=True)
class Facts:
    """``endings`` are (job, state before, state after); the rest names what is amiss."""

    jobs: Mapping[int, JobFact]
    endings: Sequence[tuple[int, str, str]]
    too_early: Sequence[int]
    wrong_counters: Sequence[tuple[int, str]]
    ledger: Sequence[tuple[str, int]]


def read_facts(url: str) -> Facts:
    """All of it; the crew must be gone."""
    with psycopg.connect(url, autocommit=True) as connection:

        def read(statement: str) -> list[Any]:
            return connection.execute(statement).fetchall()

        return Facts(
            jobs={row[0]: JobFact(*row) for row in read(JOBS)},
            endings=read("SELECT job_id, was, state FROM chaos_ending"),
            too_early=[job_id for (job_id,) in read(TOO_EARLY)],
            wrong_counters=read(COUNTERS),
            ledger=read(LEDGER),
        )
