"""Fail a job: another try after a growing wait, or dead."""

from django.conf import settings

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import JobState
from guildqueue.domain.redaction import redact
from guildqueue.domain.retry import retry_delay_s
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import leases

ERROR_LIMIT = 4000  # characters; the log has the rest


@decided_in_transaction
def fail_job(
    job_id: JobId,
    *,
    token: int,
    principal: str,
    error: str,
    permanent: bool = False,
    jitter: float,
) -> JobState:
    """``pending`` where another try is due later, ``dead`` where attempts are used up.

    ``permanent`` ends the job at once; ``jitter`` in [0, 1) is a sample drawn by the caller.
    Raises StaleLease, LeaseCancelled or JobNotFound, and then changes nothing.
    """
    attempts = leases.lock_lease(leases.Holder(job_id, token, principal))
    reason = redact(error).replace("\0", "")[:ERROR_LIMIT]
    if permanent or attempts.attempt >= attempts.max_attempts:
        leases.bury_job(job_id, error=reason)
        return JobState.DEAD
    delay_s = retry_delay_s(
        attempts.attempt,
        base_s=settings.QUEUE_RETRY_BASE_SECONDS,
        cap_s=settings.QUEUE_RETRY_CAP_SECONDS,
        jitter=jitter,
    )
    leases.retry_job(job_id, error=reason, delay_s=delay_s)
    return JobState.PENDING
