"""What a worker writes under its lease."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from guildqueue.domain.errors import JobNotFound, LeaseCancelled, StaleLease
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import JobState
from guildqueue.store.statements import execute, row, rows


class Holder(NamedTuple):
    """What every write of a worker names: job, fencing token, principal."""

    job_id: JobId
    token: int
    principal: str


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


def complete_job(
    holder: Holder,
    guild_id: GuildId,
    *,
    result: Mapping[str, Any],
    audio_seconds: float | None,
) -> bool:
    """End the job as done; True if others need it. Raises as ``refuse`` does.

    The caller shares the needs lock.
    """
    locked = rows("lock_with_dependents", {"guild_id": guild_id, "job_id": holder.job_id})
    ended = row(
        "complete_job",
        {
            **holder._asdict(),
            "guild_id": guild_id,
            "result": json.dumps(result),
            "audio_seconds": audio_seconds,
        },
    )
    if ended is None:
        refuse(holder)
    return len(locked) > 1


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
    """Raises LeaseCancelled, StaleLease or JobNotFound: why a worker's write changed nothing."""
    found = row("read_lease_state", {"job_id": holder.job_id})
    if found is None:
        raise JobNotFound(holder.job_id)
    if found.state == JobState.CANCELLED and found.token == holder.token:
        raise LeaseCancelled(holder.job_id, holder.token)
    raise StaleLease(holder.job_id, holder.token)
