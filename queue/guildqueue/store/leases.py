"""Claims and what a worker writes under its lease."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from guildqueue.domain.errors import JobNotFound, LeaseCancelled, StaleLease
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import JobState, Lease
from guildqueue.domain.order import ClaimKey, claim_key
from guildqueue.store.job_rows import lease_from_row
from guildqueue.store.statements import execute, row, rows


class Holder(NamedTuple):
    """What every write of a worker names: job, fencing token, principal."""

    job_id: JobId
    token: int
    principal: str


class Wanted(NamedTuple):
    """Which jobs a claim may take; ``guilds`` None is every guild."""

    kinds: list[str]
    guilds: list[GuildId] | None


class Taker(NamedTuple):
    """Who claims, and for how many seconds."""

    principal: str
    ttl_s: float


class Attempts(NamedTuple):
    """How often a job was claimed, and how often it may be."""

    attempt: int
    max_attempts: int


def pin_plans() -> None:
    """Keep the transaction's statements on the indexes that were made for a claim."""
    execute("pin_plans", {})


def bury_lost_jobs() -> int:
    """How many jobs ended because their lease was lost at the last attempt."""
    return execute("bury_lost_jobs", {})


def claim_jobs(wanted: Wanted, taker: Taker, *, count: int) -> list[Lease]:
    """Up to ``count`` claimable jobs in the deployment's order, now running and leased.

    Those that others have locked are passed over; here and in the claims below.
    """
    params = {**wanted._asdict(), **taker._asdict(), "count": count}
    return _in_order(rows("claim_jobs", params))


def claim_lane(wanted: Wanted, taker: Taker) -> list[Lease]:
    """The first claimable job of the lane, now running and leased; none where it is empty."""
    params = {**wanted._asdict(), **taker._asdict(), "count": 1}
    return _in_order(rows("claim_lane", params))


def claim_turn(wanted: Wanted, taker: Taker, guild_id: GuildId) -> list[Lease]:
    """The first claimable job of a guild that is not held, now running and leased."""
    params = {**wanted._asdict(), **taker._asdict(), "guild_id": guild_id, "count": 1}
    return _in_order(rows("claim_turn", params))


def _in_order(found: Iterable[Any]) -> list[Lease]:
    return sorted(map(lease_from_row, found), key=_claim_key)


def find_guild_with_work(wanted: Wanted, *, waited: Collection[GuildId]) -> GuildId | None:
    """A guild outside ``waited`` that has a claimable job, locked by others or not."""
    found = row("find_guild_with_work", {**wanted._asdict(), "waited": list(waited)})
    return GuildId(found.guild_id) if found else None


def _claim_key(lease: Lease) -> ClaimKey:
    return claim_key(lease.job.bump_seq, lease.job.priority, lease.job.id)


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
) -> None:
    """End the job as done; the caller shares the needs lock. Raises as ``refuse`` does."""
    rows("lock_with_dependents", {"guild_id": guild_id, "job_id": holder.job_id})
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
