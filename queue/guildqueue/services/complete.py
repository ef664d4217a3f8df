"""Complete a job, and count it off wherever it is needed."""

from collections.abc import Mapping
from math import inf
from typing import Any

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import JobId
from guildqueue.domain.redaction import storable
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import leases, locks


@decided_in_transaction
def complete_job(
    job_id: JobId,
    *,
    token: int,
    principal: str,
    result: Mapping[str, Any],
    audio_seconds: float | None = None,
) -> None:
    """The job is done. ``audio_seconds`` is the measured length, None to leave what is known.

    Locks: the guild's needs lock, shared, then the job and what needs it in ascending id.
    Raises StaleLease, LeaseCancelled, JobNotFound, or InvalidInput for a length that is none,
    and then changes nothing.
    """
    if audio_seconds is not None and not 0 <= audio_seconds < inf:
        raise InvalidInput("audio_seconds", audio_seconds, "a finite number from 0 on")
    guild_id = leases.job_guild(job_id)
    locks.share_needs(guild_id)
    is_needed = leases.complete_job(
        leases.Holder(job_id, token, principal),
        guild_id,
        result=storable(result),
        audio_seconds=audio_seconds,
    )
    if is_needed:
        wake_workers()
