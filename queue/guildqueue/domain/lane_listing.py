"""A queue in the order in which it will run, every job with its place or what keeps it."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from guildqueue.domain.lane import ENDED, LaneJob, Standing, running_order
from guildqueue.domain.snapshot import WaitsFor

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob(Generic[Id]):
    """A job, its place in line from 1, and why it may not run yet; None for one that may.

    What a newer release wrote, and what has ended, has no place in line.
    """

    job: LaneJob[Id]
    position: int | None
    waits_for: WaitsFor | None


def list_jobs(
    jobs: Mapping[Id, LaneJob[Id]], ringed: Iterable[Iterable[Id]] = ()
) -> list[ListedJob[Id]]:
    """The unfinished jobs in running order, then the others; ``ringed`` wait for each other."""
    stuck = {job_id for ring in ringed for job_id in ring}
    order = running_order(jobs.values())
    rest = sorted(
        (job for job in jobs.values() if not job.is_unfinished), key=lambda job: job.sort_key
    )
    listed = []
    position = 0
    for job in order:
        position += not job.is_newer
        place = None if job.is_newer else position
        listed.append(ListedJob(job=job, position=place, waits_for=_waits_for(jobs, job, stuck)))
    return listed + [ListedJob(job=job, position=None, waits_for=None) for job in rest]


def next_job(jobs: Mapping[Id, LaneJob[Id]]) -> Id | None:
    """The first job that may run now; None if none may."""
    may_run = (
        job.id
        for job in running_order(jobs.values())
        if job.standing is Standing.PENDING and _waits_for(jobs, job, ()) is None
    )
    return next(may_run, None)


def _waits_for(
    jobs: Mapping[Id, LaneJob[Id]], job: LaneJob[Id], stuck: Collection[Id]
) -> WaitsFor | None:
    unmet = [need for need in job.needs if need not in jobs or not _is_done(jobs[need])]
    if not unmet:
        return None
    if job.id in stuck or any(need not in jobs or _is_hopeless(jobs[need]) for need in unmet):
        return WaitsFor.DEPENDENCY_FAILED
    return WaitsFor.DEPENDENCY


def _is_done(job: LaneJob[Id]) -> bool:
    return job.standing is Standing.DONE


def _is_hopeless(job: LaneJob[Id]) -> bool:
    return job.standing in ENDED and not _is_done(job)
