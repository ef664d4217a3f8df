"""Release: a worker hands a job back untouched."""

from guildqueue.domain.ids import JobId
from guildqueue.services.wake import wake_workers
from guildqueue.store import leases


def release_job(job_id: JobId, *, token: int, principal: str) -> None:
    """The job is pending again in its own place, the attempt uncounted.

    Raises StaleLease, LeaseCancelled or JobNotFound, and then changes nothing.
    """
    leases.release_job(leases.Holder(job_id, token, principal))
    wake_workers()
