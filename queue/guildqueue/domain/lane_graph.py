"""Who needs whom among jobs; every walk is a loop, as a chain may be longer than the stack."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Protocol, TypeVar

from guildqueue.domain.order import SortKey

Id = TypeVar("Id", bound=Hashable)
Id_co = TypeVar("Id_co", bound=Hashable, covariant=True)


class Needing(Protocol[Id_co]):
    """A job with what it needs."""

    @property
    def needs(self) -> Sequence[Id_co]: ...

    @property
    def sort_key(self) -> SortKey: ...

    @property
    def is_unfinished(self) -> bool: ...


Graph = Mapping[Id, Needing[Id]]


def needed_by(jobs: Graph[Id], roots: Iterable[Id]) -> set[Id]:
    """The roots and all they need, transitively, as far as it is known and unfinished."""
    found: set[Id] = set()
    to_visit = list(roots)
    while to_visit:
        job_id = to_visit.pop()
        job = jobs.get(job_id)
        if job is None or job_id in found or not job.is_unfinished:
            continue
        found.add(job_id)
        to_visit.extend(job.needs)
    return found


def dependents_of(jobs: Graph[Id], targets: Collection[Id]) -> set[Id]:
    """Whatever needs one of the targets, transitively, through unfinished jobs.

    A target is among them only if it needs another one, or itself in a ring.
    """
    above: dict[Id, list[Id]] = {}
    for job_id, job in jobs.items():
        if job.is_unfinished:
            for need in job.needs:
                above.setdefault(need, []).append(job_id)
    found: set[Id] = set()
    to_visit = list(targets)
    while to_visit:
        for job_id in above.get(to_visit.pop(), ()):
            if job_id not in found:
                found.add(job_id)
                to_visit.append(job_id)
    return found


def sorted_by_needs(jobs: Graph[Id], chosen: Collection[Id]) -> list[Id]:
    """The chosen jobs, each after those it needs and otherwise in their present order.

    Jobs of a ring, which no order suits, come last. O(n log n).
    Source: Kahn, "Topological sorting of large networks", CACM 5 (1962).
    """
    ordered, caught = _peel(jobs, chosen)
    return [*ordered, *sorted(caught, key=lambda job_id: jobs[job_id].sort_key)]


def find_ring(jobs: Graph[Id], chosen: Collection[Id]) -> tuple[Id, ...]:
    """One ring among the chosen jobs, each needing the next; () if there is none."""
    _, caught = _peel(jobs, chosen)
    if not caught:
        return ()
    here = min(caught, key=lambda job_id: jobs[job_id].sort_key)
    path: dict[Id, None] = {}
    while here not in path:
        path[here] = None
        # What was not peeled off needs something that was not, so there always is a next.
        here = next(need for need in jobs[here].needs if need in caught)
    walked = list(path)
    return tuple(walked[walked.index(here) :])


def _peel(jobs: Graph[Id], chosen: Collection[Id]) -> tuple[list[Id], set[Id]]:
    """The chosen jobs in order, and those that a ring keeps from having one."""
    n_unmet = dict.fromkeys(chosen, 0)
    above: dict[Id, list[Id]] = {job_id: [] for job_id in chosen}
    for job_id in chosen:
        for need in dict.fromkeys(jobs[job_id].needs):
            if need in n_unmet:
                n_unmet[job_id] += 1
                above[need].append(job_id)
    ticket = count()  # breaks ties, so that ids are never compared
    free = [(jobs[i].sort_key, next(ticket), i) for i in n_unmet if n_unmet[i] == 0]
    heapify(free)
    ordered: list[Id] = []
    while free:
        job_id = heappop(free)[2]
        ordered.append(job_id)
        del n_unmet[job_id]
        for dependent in above[job_id]:
            n_unmet[dependent] -= 1
            if n_unmet[dependent] == 0:
                heappush(free, (jobs[dependent].sort_key, next(ticket), dependent))
    return ordered, set(n_unmet)
