"""Heartbeat: a worker says that it is alive, and how far it is."""

from collections.abc import Iterable
from datetime import datetime
from math import isnan

from guildqueue.domain.errors import LEASE_LOST, LeaseLost
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Beat
from guildqueue.store import leases


def extend_lease(
    job_id: JobId, *, token: int, principal: str, ttl_s: float, progress: float | None = None
) -> datetime:
    """When the lease now expires. ``progress`` runs from 0.0 to 1.0; None and NaN leave it.

    Raises StaleLease, LeaseCancelled or JobNotFound.
    """
    holder = leases.Holder(job_id, token, principal)
    return leases.extend_lease(holder, ttl_s=ttl_s, progress=_known(progress))


def extend_leases(principal: str, beats: Iterable[Beat], *, ttl_s: float) -> dict[JobId, LeaseLost]:
    """Extend all that still hold; returns those that do not, and why.

    One statement, and one more for each that did not hold or that somebody had locked.
    """
    given = [beat._replace(progress=_known(beat.progress)) for beat in beats]
    extended = leases.extend_leases(principal, given, ttl_s=ttl_s)
    lost: dict[JobId, LeaseLost] = {}
    for job_id, token, progress in given:
        if job_id in extended:
            continue
        try:
            extend_lease(job_id, token=token, principal=principal, ttl_s=ttl_s, progress=progress)
        except LEASE_LOST as error:
            lost[job_id] = error
    return lost


def _known(progress: float | None) -> float | None:
    return None if progress is None or isnan(progress) else min(max(progress, 0.0), 1.0)
