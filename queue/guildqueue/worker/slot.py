"""One of a worker's places: a batch of leases and the process that works on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Lease
from guildqueue.worker.batch import Batch
from guildqueue.worker.handler import HandlerInput, HandlerWork
from guildqueue.worker.process import HandlerProcess
from guildqueue.worker.protocol import Failed, Order, Unfit

PROGRESS_EVERY_S = 1.0
WRITE_WITHIN_S = 1.0  # from a job's end, however long the rest of its batch takes


@dataclass(slots=True)
class Slot:
    """Its process stays from batch to batch. Times are ``monotonic``."""

    beat_every_s: float
    environment: Mapping[str, str]
    batch: Batch = field(default_factory=Batch)
    process: HandlerProcess | None = None
    is_started: bool = False
    beat_at: float = 0.0
    heard_at: float = 0.0
    write_at: float = 0.0

    def take(self, leases: Sequence[Lease], now: float) -> None:
        """Hold ``leases``, claimed after ``now``."""
        self.batch.take(leases)
        self.beat_at = now + self.beat_every_s

    def start(self, orders: Iterable[Order], now: float) -> None:
        """Hand what is open to the process, a new one if there is none alive."""
        if self.process is not None and not self.process.is_alive:
            self.kill()
        if self.process is None:
            self.process = HandlerProcess(self.environment)
        self.is_started = True
        self.heard_at = now
        try:
            self.process.start(orders)
        except OSError:
            self.listen(now)  # it died just now; its last report says how

    def listen(self, now: float) -> None:
        """Take in what the process said, if it works; a lost job that it works on ends it."""
        if self.process is None or not self.is_working:
            return
        had_ended = bool(self.batch.ended)
        reports, ending = self.process.reports()
        self.batch.hear(reports)
        if ending:
            self.batch.blame_first(Failed(ending))
        if ending or self.batch.first in self.batch.lost:
            self.kill()
        elif not self.batch.open:
            self.is_started = False
        if self.batch.ended and not had_ended:
            self.write_at = self.heard_at + WRITE_WITHIN_S
        if any(isinstance(report.word, Unfit) for report in reports):
            self.write_at = 0.0
        self.heard_at = now

    @property
    def is_working(self) -> bool:
        return self.is_started and bool(self.batch.open)

    def is_write_due(self, now: float) -> bool:
        """Whether what ended is to be written now, and not with more of the batch."""
        return bool(self.batch.ended) and now >= self._write_at

    @property
    def _write_at(self) -> float:
        return min(self.write_at, self.beat_at) if self.batch.open else 0.0

    def is_beat_due(self, now: float) -> bool:
        """Whether the leases are to be kept alive now, or the progress to be told."""
        return self.is_working and now >= self._beat_at

    @property
    def _beat_at(self) -> float:
        if self.batch.progress == self.batch.told_progress:
            return self.beat_at
        return min(self.beat_at, self.beat_at - self.beat_every_s + PROGRESS_EVERY_S)

    @property
    def due_at(self) -> float:
        """When this place next needs something without being rung for."""
        if self.batch.is_empty:
            return float("inf")
        if not self.is_working or self.batch.unbegun:
            return 0.0
        due = [self._beat_at]
        if self.batch.ended:
            due.append(self._write_at)
        if len(self.batch.open) > 1:
            # A job in the middle may have ended without a ring, before a long one.
            due.append(self.heard_at + WRITE_WITHIN_S)
        return min(due)

    def were_heard(self, now: float) -> None:
        """The leases live on, and what was reported is known."""
        self.batch.told_progress = self.batch.progress
        self.beat_at = now + self.beat_every_s

    def lose(self, job_ids: Iterable[JobId]) -> None:
        """Leases that are gone: what is not begun is not begun, what runs is stopped."""
        for job_id in job_ids:
            self.batch.lose(job_id)
        if not self.is_working:
            self.batch.begin_again()
        elif self.batch.first in self.batch.lost:
            self.kill()
        elif self.process is not None and self.batch.lost:
            self.process.drop(self.batch.lost)

    def recall(self) -> None:
        """What is not begun is to be handed back, once the process has said what that is."""
        if self.is_working and self.process is not None:
            self.process.drop(self.batch.open)
        else:
            self.batch.give_up()

    def kill(self) -> None:
        """End the process, if there is one; what it had begun another has to begin again."""
        if self.process is not None:
            self.batch.hear(self.process.kill())
            self.process = None
        self.is_started = False
        self.batch.begin_again()


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
