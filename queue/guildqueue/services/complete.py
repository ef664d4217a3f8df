"""Complete jobs, and count them off wherever they are needed."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

from guildqueue.domain.errors import InvalidInput, LeaseLost
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Completion, Lease
from guildqueue.domain.redaction import storable
from guildqueue.services.claim import claim_of, claims_in_turns, see_own_changes
from guildqueue.services.overdue import settle_overdue_now_and_then
from guildqueue.services.transaction import decided_at_once
from guildqueue.services.wake import wake_workers
from guildqueue.store import leases
from guildqueue.store.leases import Holder


class Turnover(NamedTuple):
    """What a worker lost meanwhile, by job, and what it was given to do next."""

    lost: Mapping[JobId, LeaseLost]
    leases: list[Lease]


@decided_at_once
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
    done = checked(Completion(job_id, token, result, audio_seconds))
    (completed,) = leases.complete_jobs(principal, [done])
    if not completed.is_done:
        leases.refuse(Holder(job_id, token, principal))
    if completed.is_needed:
        wake_workers()


@decided_at_once
def complete_and_claim(
    principal: str,
    completions: Iterable[Completion],
    *,
    filter: JobFilter,  # noqa: A002  the word of every front end
    count: int,
    ttl_s: float,
) -> Turnover:
    """End the jobs and claim up to ``count`` others in turn, in one statement and one commit.

    In the deployment's order none is claimed. Fewer than ``count`` is no sign that there is
    nothing: only ``claim_jobs`` waits for what others have locked. Raises InvalidInput for a
    length that is none, and then changes nothing.
    """
    done = [checked(completion) for completion in completions]
    claim = claim_of(principal, filter, count=count if claims_in_turns() else 0, ttl_s=ttl_s)
    settle_overdue_now_and_then()
    see_own_changes()
    turned = leases.complete_and_claim(
        claim.scope, claim.taker, done, filter_hash=claim.filter_hash, count=claim.n_jobs
    )
    if turned.is_needed:
        wake_workers()
    tokens = {completion.job_id: completion.token for completion in done}
    lost = {
        job_id: leases.refusal(Holder(job_id, tokens[job_id], principal))
        for job_id in turned.refused
    }
    return Turnover(lost, turned.leases)


def checked(completion: Completion) -> Completion:
    """It with a result that jsonb takes. Raises InvalidInput for a length that is none."""
    seconds = completion.audio_seconds
    if seconds is not None and not 0 <= seconds < inf:
        raise InvalidInput("audio_seconds", seconds, "a finite number from 0 on")
    return completion._replace(result=storable(completion.result))
