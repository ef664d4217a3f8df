"""Write what came of a job, under the lease it was done with."""

from collections.abc import Sequence
from random import SystemRandom

import structlog
from django.db import DataError, IntegrityError

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.job import Completion, Lease
from guildqueue.services.complete import (
    Turnover,
    complete_and_claim,
    complete_job,
)
from guildqueue.services.fail import fail_job
from guildqueue.worker.protocol import Done, Failed

# What a result raises that the database cannot hold.
UNSTORABLE = (DataError, IntegrityError, InvalidInput)
_chance = SystemRandom()
_log = structlog.get_logger(__name__)


def write_outcome(lease: Lease, outcome: Done | Failed, *, principal: str) -> None:
    """The job is done, dead, or back in line.

    A result that the database cannot hold is a failure that no retry mends. Raises StaleLease,
    LeaseCancelled or JobNotFound, and then changes nothing.
    """
    if isinstance(outcome, Failed):
        _fail(lease, outcome, principal)
        return
    try:
        complete_job(
            lease.job.id,
            token=lease.token,
            principal=principal,
            result=outcome.result,
            audio_seconds=outcome.audio_seconds,
        )
    except UNSTORABLE as error:
        reason = " ".join(f"the result cannot be stored: {error}".split())
        _fail(lease, Failed(reason, permanent=True), principal)
        return
    note_done(lease)


def turn_over(
    done: Sequence[tuple[Lease, Done]],
    *,
    principal: str,
    filter: JobFilter,  # noqa: A002  the word of every front end
    count: int,
    ttl_s: float,
) -> Turnover:
    """What was done is written and up to ``count`` jobs are claimed, in one commit; logs nothing.

    Raises one of UNSTORABLE where a result cannot be stored, and then changes nothing.
    """
    return complete_and_claim(
        principal,
        [
            Completion(lease.job.id, lease.token, outcome.result, outcome.audio_seconds)
            for lease, outcome in done
        ],
        filter=filter,
        count=count,
        ttl_s=ttl_s,
    )


def note_done(lease: Lease) -> None:
    """The log's line on a job that is written as done."""
    _log.info("job done", **_facts(lease))


def _fail(lease: Lease, failed: Failed, principal: str) -> None:
    state = fail_job(
        lease.job.id,
        token=lease.token,
        principal=principal,
        error=failed.reason,
        permanent=failed.permanent,
        jitter=_chance.random(),
    )
    _log.warning(
        "job failed",
        **_facts(lease),
        reason=failed.reason,
        attempt=lease.job.attempt,
        max_attempts=lease.job.max_attempts,
        state=state.value,
        **({"traceback": failed.traceback} if failed.traceback else {}),
    )


def _facts(lease: Lease) -> dict[str, object]:
    job = lease.job
    return {
        "job_id": job.id,
        "guild_id": job.guild_id,
        "session_id": job.session_id,
        "kind": job.kind,
    }
