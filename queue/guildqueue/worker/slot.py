"""One of a worker's places: a lease, the process that works on it, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from guildqueue.domain.job import Lease
from guildqueue.worker.handler import HandlerInput, HandlerWork
from guildqueue.worker.process import HandlerProcess
from guildqueue.worker.protocol import Failed, Outcome, Progress

PROGRESS_EVERY_S = 1.0


@dataclass(slots=True)
class Slot:
    """Empty without a lease; its process stays from job to job. Times are ``monotonic``."""

    beat_every_s: float
    environment: Mapping[str, str]
    process: HandlerProcess | None = None
    lease: Lease | None = None
    is_started: bool = False
    outcome: Outcome | None = None
    progress: float = 0.0
    told_progress: float = 0.0
    beat_at: float = 0.0
    taken_at: float = field(default=0.0)

    def take(self, lease: Lease, now: float) -> None:
        """Hold ``lease``, claimed after ``now``."""
        self.lease = lease
        self.taken_at = now
        self.beat_at = now + self.beat_every_s

    def start(self, handler: str, inputs: Sequence[HandlerInput]) -> None:
        """Hand the leased job to the process, a new one if there is none alive."""
        if self.lease is None:
            raise ValueError("an empty slot has nothing to start")
        work = work_of(self.lease, inputs)
        if self.process is not None and not self.process.is_alive:
            self.kill()
        if self.process is None:
            self.process = HandlerProcess(self.environment)
        self.is_started = True
        try:
            self.process.start(handler, work)
        except OSError:
            # It died just now; its last report says how.
            self.listen()
            self.outcome = self.outcome or Failed("the handler ended before it began")

    def listen(self) -> None:
        """Take in what the process said, if it works."""
        if self.process is None or not self.is_working:
            return
        for report in self.process.reports():
            if isinstance(report, Progress):
                self.progress = report.fraction
            else:
                self.outcome = self.outcome or report
        if self.outcome is not None and not self.process.is_alive:
            self.kill()

    @property
    def is_working(self) -> bool:
        return self.is_started and self.outcome is None

    @property
    def due_at(self) -> float:
        """When the database next has to hear of this lease."""
        if not self.is_working:
            return 0.0
        if self.progress == self.told_progress:
            return self.beat_at
        return min(self.beat_at, self.beat_at - self.beat_every_s + PROGRESS_EVERY_S)

    def was_heard(self, now: float) -> None:
        """The lease lives on, and what was reported is known."""
        self.told_progress = self.progress
        self.beat_at = now + self.beat_every_s

    def clear(self) -> None:
        """Empty, the process kept for the next job; one that still works is killed."""
        if self.is_working:
            self.kill()
        self.lease = None
        self.is_started = False
        self.outcome = None
        self.progress = self.told_progress = 0.0

    def kill(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process = None


def work_of(lease: Lease, inputs: Sequence[HandlerInput]) -> HandlerWork:
    """What the handler is told of the leased job."""
    job = lease.job
    return HandlerWork(
        job_id=job.id,
        guild_id=job.guild_id,
        session_id=job.session_id,
        kind=job.kind,
        token=lease.token,
        payload=job.payload,
        inputs=tuple(inputs),
    )
