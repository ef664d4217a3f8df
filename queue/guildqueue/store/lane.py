"""The lane in the database: the jobs that a request concerns, and what it writes of them."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane import LaneJob, LanePlan, standing_of
from guildqueue.domain.order import SortKey
from guildqueue.domain.redaction import redact
from guildqueue.domain.snapshot import WaitsFor
from guildqueue.store.statements import execute, rows

LaneJobs = Mapping[JobId, LaneJob[JobId]]


class LaneTarget(NamedTuple):
    """A job that somebody asks for by name; ``gate`` is what keeps it back all the same."""

    job_id: JobId
    session_id: SessionId
    title: str
    gate: WaitsFor | None


def lock_lane(guild_id: GuildId, targets: Collection[JobId]) -> LaneJobs:
    """The jobs that a request for ``targets`` has to be planned on, read once they are locked.

    A target that is not the guild's is left out. The caller holds the order lock, so that no
    job of the guild comes to need another one meanwhile.
    """
    params: dict[str, Any] = {"guild_id": guild_id}
    found = rows("find_lane_jobs", {**params, "targets": list(targets)})
    params["job_ids"] = [job.id for job in found]
    rows("lock_lane_jobs", params)
    jobs = [_lane_job(job) for job in rows("read_lane_jobs", params)]
    return {job.id: job for job in jobs}


def write_plan(guild_id: GuildId, plan: LanePlan[JobId], *, by: str, reason: str) -> None:
    """Make the lane what the plan says, on rows that lock_lane locked."""
    if plan.removed:
        execute("leave_lane", {"guild_id": guild_id, "job_ids": list(plan.removed)})
    told = {"guild_id": guild_id, "by": redact(by), "reason": redact(reason)}
    if plan.moved:
        execute("enter_lane", {**told, "job_ids": list(plan.moved)})
    if plan.naming:
        execute("name_in_lane", {**told, "job_ids": list(plan.naming)})


def session_targets(guild_id: GuildId, session_id: SessionId) -> list[JobId]:
    """The session's outstanding jobs in claim order; all its jobs where none is."""
    found = rows("read_lane_session", {"guild_id": guild_id, "session_id": session_id})
    return [JobId(job.id) for job in found]


def read_targets(guild_id: GuildId, targets: Collection[JobId]) -> list[LaneTarget]:
    """What is told of the targets that are there, ascending."""
    found = rows("read_lane_targets", {"guild_id": guild_id, "job_ids": list(targets)})
    return [
        LaneTarget(
            job_id=JobId(target.id),
            session_id=SessionId(target.session_id),
            title=target.title,
            gate=WaitsFor(target.gate) if target.gate else None,
        )
        for target in found
    ]


def _lane_job(found: Any) -> LaneJob[JobId]:
    return LaneJob(
        id=JobId(found.id),
        standing=standing_of(found.state, found.kind),
        sort_key=SortKey(found.priority, found.id),
        needs=tuple(JobId(needs) for needs in found.needs),
        bump_seq=found.bump_seq,
        named=found.bump_named,
    )
