"""What a worker writes under its lease."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from psycopg.pq import Format

from guildqueue.domain.errors import JobNotFound, LeaseCancelled, LeaseLost, StaleLease
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Beat, Completion, JobState, Lease
from guildqueue.store.claims import Taker
from guildqueue.store.job_rows import lease_from_row
from guildqueue.store.scopes import ClaimScope
from guildqueue.store.statements import array, execute, row, rows


class Holder(NamedTuple):
    """What every write of a worker names: job, fencing token, principal."""

    job_id: JobId
    token: int
    principal: str


class Completed(NamedTuple):
    """Whether the job is done now, and whether others need it."""

    job_id: JobId
    is_done: bool
    is_needed: bool


class TurnedOver(NamedTuple):
    """Whose completion was refused, whether others need any of the rest, and what was claimed."""

    refused: list[JobId]
    is_needed: bool
    leases: list[Lease]


class Attempts(NamedTuple):
    """How often a job was claimed, and how often it may be."""

    attempt: int
    max_attempts: int


def extend_lease(holder: Holder, *, ttl_s: float, progress: float | None) -> datetime:
    """When the lease now expires. Raises as ``refuse`` does."""
    found = row("extend_lease", {**holder._asdict(), "ttl_s": ttl_s, "progress": progress})
    if found is None:
        refuse(holder)
    expires_at: datetime = found.lease_expires_at
    return expires_at


def extend_leases(principal: str, beats: Sequence[Beat], *, ttl_s: float) -> set[JobId]:
    """The jobs whose leases were extended, in one statement that waits for nobody."""
    found = rows(
        "extend_leases",
        {
            "principal": principal,
            "jobs": [beat.job_id for beat in beats],
            "tokens": [beat.token for beat in beats],
            "progress": [beat.progress for beat in beats],
            "ttl_s": ttl_s,
        },
    )
    return {JobId(job.id) for job in found}


def complete_jobs(principal: str, completions: Sequence[Completion]) -> list[Completed]:
    """End the jobs as done and count them off where they are needed, in one statement."""
    found = rows("complete_jobs", completed_params(principal, completions))
    return [Completed(JobId(job.id), job.is_done, job.is_needed) for job in found]


def complete_and_claim(
    scope: ClaimScope,
    taker: Taker,
    completions: Sequence[Completion],
    *,
    filter_hash: str,
    count: int,
) -> TurnedOver:
    """The same, and claim up to ``count`` jobs in turn, in one transaction."""
    found = rows(
        "complete_and_claim",
        {
            **scope._asdict(),
            **taker._asdict(),
            **completed_params(taker.principal, completions),
            "filter_hash": filter_hash,
            "count": count,
        },
        format=Format.BINARY,
    )
    return TurnedOver(
        refused=[JobId(job_id) for job_id in found[0].refused],
        is_needed=found[0].is_needed,
        leases=[lease_from_row(taken) for taken in found if taken.id is not None],
    )


def completed_params(principal: str, completions: Sequence[Completion]) -> dict[str, Any]:
    """What the part ``completed`` names."""
    return {
        "principal": principal,
        "jobs": array(completion.job_id for completion in completions),
        "tokens": array(completion.token for completion in completions),
        "results": array(json.dumps(completion.result) for completion in completions),
        "audio_seconds": array(completion.audio_seconds for completion in completions),
    }


def lock_lease(holder: Holder) -> Attempts:
    """The job's attempts, its row locked. Raises as ``refuse`` does."""
    found = row("lock_lease", holder._asdict())
    if found is None:
        refuse(holder)
    return Attempts(found.attempt, found.max_attempts)


def retry_job(job_id: JobId, *, error: str, delay_s: float) -> None:
    """Put a locked job back in line, due in ``delay_s`` seconds."""
    execute("retry_job", {"job_id": job_id, "error": error, "delay_s": delay_s})


def bury_job(job_id: JobId, *, error: str) -> None:
    """End a locked job as dead."""
    execute("bury_job", {"job_id": job_id, "error": error})


def release_job(holder: Holder) -> None:
    """Hand the job back, its attempt uncounted. Raises as ``refuse`` does."""
    if row("release_job", holder._asdict()) is None:
        refuse(holder)


def job_guild(job_id: JobId) -> GuildId:
    """The job's guild. Raises JobNotFound."""
    found = row("read_job_guild", {"job_id": job_id})
    if found is None:
        raise JobNotFound(job_id)
    return GuildId(found.guild_id)


def refuse(holder: Holder) -> NoReturn:
    """Raises why a worker's write changed nothing: see ``refusal``."""
    raise refusal(holder)


def refusal(holder: Holder) -> LeaseLost:
    """Why a worker's write changed nothing."""
    found = row("read_lease_state", {"job_id": holder.job_id})
    if found is None:
        return JobNotFound(holder.job_id)
    if found.state == JobState.CANCELLED and found.token == holder.token:
        return LeaseCancelled(holder.job_id, holder.token)
    return StaleLease(holder.job_id, holder.token)
