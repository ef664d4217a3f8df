"""The leases that one of a worker's places holds, and where each of them stands."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Lease
from guildqueue.worker.protocol import Dropped, Outcome, Progress, Report


class Ended(NamedTuple):
    """A job that a handler is done with, and what came of it."""

    lease: Lease
    outcome: Outcome


@dataclass(slots=True)
class Batch:
    """A lease is in one place alone: ``open``, ``ended`` or ``unbegun``.

    ``open`` is to be done in this order: where a process works, on the first. ``ended`` is to be
    written, ``unbegun`` to be handed back. ``lost`` are those of the open ones whose lease is gone.
    """

    open: dict[JobId, Lease] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)
    unbegun: list[Lease] = field(default_factory=list)
    lost: set[JobId] = field(default_factory=set)
    progress: float = 0.0
    told_progress: float = 0.0

    def take(self, leases: Sequence[Lease]) -> None:
        """Hold them as well."""
        self.open.update((lease.job.id, lease) for lease in leases)

    @property
    def is_empty(self) -> bool:
        return not (self.open or self.ended or self.unbegun)

    @property
    def first(self) -> JobId | None:
        """The job that a process works on, if one works."""
        return next(iter(self.open), None)

    @property
    def held(self) -> dict[JobId, Lease]:
        """The open leases that hold as far as is known."""
        return {key: lease for key, lease in self.open.items() if key not in self.lost}

    def hear(self, reports: Iterable[Report]) -> None:
        """What a process said of its jobs."""
        for job_id, word in reports:
            if isinstance(word, Progress):
                if job_id == self.first:  # and not a thread of one before, which it left behind
                    self.progress = word.fraction
            elif isinstance(word, Dropped):
                self._close(JobId(job_id), None)
            else:
                self._close(JobId(job_id), word)

    def blame_first(self, outcome: Outcome) -> None:
        """The process ended on its own, with the job that it worked on."""
        if self.first is not None:
            self._close(self.first, outcome)

    def lose(self, job_id: JobId) -> None:
        """Nothing may be written of an open one any more. A process may still be to do it."""
        if job_id in self.open:
            self.lost.add(job_id)

    def begin_again(self) -> None:
        """No process has any of it now: what is lost is done with, the rest is to be begun."""
        for job_id in self.lost:
            del self.open[job_id]
        self.lost.clear()
        self.progress = self.told_progress = 0.0

    def hand_back(self, ended: Ended) -> None:
        """The handler would not have it: somebody else may."""
        self.ended.remove(ended)
        self.unbegun.append(ended.lease)

    def give_up(self) -> None:
        """What is open is to be handed back; no process has any of it."""
        self.unbegun += self.open.values()
        self.open.clear()

    def _close(self, job_id: JobId, outcome: Outcome | None) -> None:
        lease = self.open.pop(job_id, None)
        if lease is None or job_id in self.lost:
            self.lost.discard(job_id)
        elif outcome is None:
            self.unbegun.append(lease)
        else:
            self.ended.append(Ended(lease, outcome))
            self.progress = self.told_progress = 0.0
