"""What is stored after each step, against the model and against the schema's own rules."""

from typing import Any

from django.db import connection, transaction

from guildqueue.domain.ids import JobId
from tests.db.claim_model import ClaimModel, Job
from tests.db.races import query
from tests.db.stored import write

COLUMNS = (
    "state",
    "priority",
    "is_held",
    "n_unmet",
    "attempt",
    "token",
    "lease_by",
    "is_named",
    "labels",
    "assignee_kind",
    "is_lost",
    "is_deferred",
)
STORED = """
SELECT id, state, priority, held, unmet, attempt, token, lease_by, bump_named, labels,
       assignee_kind,
       state = 'running' AND lease_expires_at < clock_timestamp() AS is_lost,
       state = 'pending' AND coalesce(run_after > clock_timestamp(), false) AS is_deferred
  FROM guildqueue_job ORDER BY id
"""
IN_LANE = "SELECT id FROM guildqueue_job WHERE bump_seq IS NOT NULL ORDER BY bump_seq"

# Each rule by its name, with the rows that break it.
BROKEN = """
SELECT 'one number for a session', session_id FROM guildqueue_job
 WHERE state IN ('pending', 'running') GROUP BY session_id
HAVING count(DISTINCT priority) > 1
UNION ALL
SELECT 'unmet counts needs that are not done', job.id FROM guildqueue_job AS job
 WHERE unmet <> (SELECT count(*) FROM guildqueue_job_dependency AS dependency
                   JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
                  WHERE dependency.job_id = job.id AND needed.state <> 'done')
UNION ALL
SELECT 'held as its session is', job.id FROM guildqueue_job AS job
  JOIN guildqueue_session AS session ON session.id = job.session_id
 WHERE state IN ('pending', 'running') AND held <> (held_at IS NOT NULL)
UNION ALL
SELECT 'a guild''s own session and needs', job.id FROM guildqueue_job AS job
  JOIN guildqueue_session AS session ON session.id = job.session_id
  LEFT JOIN guildqueue_job_dependency AS dependency ON dependency.job_id = job.id
  LEFT JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
 WHERE session.guild_id <> job.guild_id OR needed.guild_id <> job.guild_id
UNION ALL
SELECT 'a lease exactly while it runs', id FROM guildqueue_job
 WHERE (state = 'running') <> (lease_by IS NOT NULL)
    OR (state = 'running') <> (lease_expires_at IS NOT NULL)
UNION ALL
SELECT 'what runs needs nothing and was claimed', id FROM guildqueue_job
 WHERE state = 'running' AND (unmet > 0 OR attempt < 1 OR attempt > max_attempts OR token < 1
                              OR run_after IS NOT NULL OR started_at IS NULL)
UNION ALL
SELECT 'named only in the lane, nothing ended there', id FROM guildqueue_job
 WHERE (bump_named AND bump_seq IS NULL)
    OR (bump_seq IS NOT NULL AND state NOT IN ('pending', 'running'))
UNION ALL
SELECT 'a place in the lane each', bump_seq FROM guildqueue_job
 WHERE bump_seq IS NOT NULL GROUP BY bump_seq HAVING count(*) > 1
UNION ALL
SELECT 'the moment of its end exactly when it ended', id FROM guildqueue_job
 WHERE (state IN ('done', 'dead', 'cancelled')) <> (finished_at IS NOT NULL)
UNION ALL
SELECT 'counters count what ended: ' || coalesce(counted.state, ended.state),
       coalesce(counted.guild_id, ended.guild_id)
  FROM (SELECT guild_id, state, sum(delta) AS n FROM guildqueue_guild_count
         GROUP BY guild_id, state HAVING sum(delta) <> 0) AS counted
  FULL JOIN (SELECT guild_id, state, count(*) AS n FROM guildqueue_job
              WHERE state NOT IN ('pending', 'running') GROUP BY guild_id, state) AS ended
    ON ended.guild_id = counted.guild_id AND ended.state = counted.state
 WHERE counted.n IS DISTINCT FROM ended.n
"""


def broken_rules() -> list[tuple[Any, ...]]:
    """Every invariant that some row breaks, with the row's id."""
    return query(BROKEN)


def stored_jobs(model: ClaimModel) -> dict[str, dict[str, Any]]:
    """Each stored job by its name in the model."""
    rows = {JobId(row[0]): dict(zip(COLUMNS, row[1:], strict=True)) for row in query(STORED)}
    for row in rows.values():
        row["labels"] = sorted(row["labels"])
        if row["state"] not in {"pending", "running"}:
            del row["is_held"]  # what ended keeps what it had
    return {name_of(model, job_id): row for job_id, row in rows.items()}


def modelled_jobs(model: ClaimModel) -> dict[str, dict[str, Any]]:
    """The same of the model."""
    return {job.name: _modelled(model, job) for job in model.jobs.values()}


def _modelled(model: ClaimModel, job: Job) -> dict[str, Any]:
    row = {
        "state": job.state,
        "priority": job.priority,
        "n_unmet": sum(model.jobs[need].state != "done" for need in job.needs),
        "attempt": job.attempt,
        "token": job.token,
        "lease_by": job.lease_by,
        "is_named": job.is_named,
        "labels": sorted(job.labels),
        "assignee_kind": job.assignee_kind,
        "is_lost": job.is_lost,
        "is_deferred": job.state == "pending" and job.is_deferred,
    }
    if job.is_outstanding:
        row["is_held"] = model.sessions[job.session].is_held
    return row


def stored_lane(model: ClaimModel) -> list[str]:
    return [name_of(model, JobId(job_id)) for (job_id,) in query(IN_LANE)]


def modelled_lane(model: ClaimModel) -> list[str]:
    members = [(job.bump, job.name) for job in model.jobs.values() if job.bump is not None]
    return [name for _, name in sorted(members)]


def name_of(model: ClaimModel, job_id: JobId) -> str:
    job = model.jobs.get(job_id)
    return job.name if job else f"a job that nobody added: {job_id}"


def forget_everything() -> None:
    """Every row gone. Not truncated: then each statement would be planned anew."""
    names = [name for name in connection.introspection.table_names() if name.startswith("guildq")]
    with transaction.atomic():
        write("SET LOCAL session_replication_role = replica")
        for name in names:
            write(f"DELETE FROM {connection.ops.quote_name(name)}")  # noqa: S608


def move_time(statement: str, job_id: JobId) -> None:
    """Let a moment of the job pass as moments do: nothing fires, nobody is told."""
    with transaction.atomic():
        write("SET LOCAL session_replication_role = replica")
        assert write(statement, job_id) == 1
