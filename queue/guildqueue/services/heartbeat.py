"""Heartbeat: a worker says that it is alive, and how far it is."""

from datetime import datetime
from math import isnan

from guildqueue.domain.ids import JobId
from guildqueue.store import leases


def extend_lease(
    job_id: JobId, *, token: int, principal: str, ttl_s: float, progress: float | None = None
) -> datetime:
    """When the lease now expires. ``progress`` runs from 0.0 to 1.0; None and NaN leave it.

    Raises StaleLease, LeaseCancelled or JobNotFound.
    """
    known = None if progress is None or isnan(progress) else min(max(progress, 0.0), 1.0)
    return leases.extend_lease(leases.Holder(job_id, token, principal), ttl_s=ttl_s, progress=known)
