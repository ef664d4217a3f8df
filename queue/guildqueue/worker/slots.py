"""All of a worker's places: what is claimed for them, and what the database is told of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import SystemRandom

import structlog

from guildqueue.domain.errors import LEASE_LOST, QueueBusy
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Beat, Lease
from guildqueue.services.claim import COUNT_MOST, claim_jobs
from guildqueue.services.heartbeat import extend_leases
from guildqueue.services.release import release_job
from guildqueue.worker.batch import Ended
from guildqueue.worker.inputs import inputs_of
from guildqueue.worker.outcome import UNSTORABLE, note_done, turn_over, write_outcome
from guildqueue.worker.plan import WorkerPlan
from guildqueue.worker.protocol import Done, Failed, Order, Unfit
from guildqueue.worker.slot import Slot, work_of

_chance = SystemRandom()
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Slots:
    """Times are ``monotonic``. ``unfit`` is what a handler said that cannot do such jobs here."""

    plan: WorkerPlan
    all: list[Slot] = field(init=False)
    unfit: Unfit | None = None
    is_drained: bool = False
    claim_at: float = 0.0
    unsaid: list[Lease] = field(default_factory=list)

    def __post_init__(self) -> None:
        plan = self.plan
        self.all = [Slot(plan.beat_every_s, plan.environment) for _ in range(plan.concurrency)]

    @property
    def busy(self) -> list[Slot]:
        return [slot for slot in self.all if not slot.batch.is_empty]

    @property
    def n_free(self) -> int:
        return len(self.all) - len(self.busy)

    @property
    def bells(self) -> list[int]:
        """What is readable when a process that works has spoken."""
        return [slot.process.bell for slot in self.all if slot.process and slot.is_working]

    def beat(self, now: float) -> None:
        """Keep the leases alive of what runs or waits for it, all that are due in one statement."""
        due = [slot for slot in self.all if slot.is_beat_due(now)]
        if not due:
            return
        beats = [
            Beat(job_id, lease.token, slot.batch.progress if job_id == slot.batch.first else None)
            for slot in due
            for job_id, lease in slot.batch.held.items()
        ]
        lost = extend_leases(self.plan.principal, beats, ttl_s=self.plan.ttl_s)
        for slot in due:
            slot.were_heard(now)
            gone = {job_id: lost[job_id] for job_id in slot.batch.open if job_id in lost}
            for job_id, error in gone.items():
                self._note_lost(job_id, error)
            if gone:
                slot.lose(gone)

    def write_failures(self, now: float) -> None:
        """What was not done, each by itself; first, as it may empty a place."""
        for slot, ended in self._to_write(now):
            if isinstance(ended.outcome, Unfit):
                self._note_unfit(ended.outcome)
                slot.batch.hand_back(ended)
            elif isinstance(ended.outcome, Failed):
                self._write(slot, ended, ended.outcome)

    def turn_over(self, now: float, *, claims: bool) -> None:
        """Write what was done and claim for the places that it empties, in one commit."""
        done = [
            (slot, ended, ended.outcome)
            for slot, ended in self._to_write(now)
            if isinstance(ended.outcome, Done)
        ]
        if not done:
            return
        n_empty = sum(not (slot.batch.open or slot.batch.unbegun) for slot in self.all)
        try:
            turnover = turn_over(
                [(ended.lease, outcome) for _, ended, outcome in done],
                principal=self.plan.principal,
                filter=self.plan.filter,
                count=self._most(n_empty) if claims else 0,
                ttl_s=self.plan.ttl_s,
            )
        except UNSTORABLE:
            # One by one then, so that only what cannot be stored fails.
            for written in done:
                self._write(*written)
            return
        for job_id, error in turnover.lost.items():
            self._note_lost(job_id, error)
        self.unsaid += [one.lease for _, one, _ in done if one.lease.job.id not in turnover.lost]
        for slot in self.all:
            slot.batch.ended.clear()
        self._expect_more()
        self._take(turnover.leases, now)

    def say_done(self) -> None:
        """Log what was done: only now, as handlers can be at work meanwhile."""
        for lease in self.unsaid:
            note_done(lease)
        self.unsaid.clear()

    def claim(self, now: float) -> None:
        """Fill the empty places, if it is time to ask."""
        n_free = self.n_free
        if not n_free or now < self.claim_at:
            return
        count = self._most(n_free)
        # A lock that is waited for must not cost the jobs that run their leases.
        waits = n_free == len(self.all)
        try:
            leases = claim_jobs(
                self.plan.principal,
                count=count,
                ttl_s=self.plan.ttl_s,
                filter=self.plan.filter,
                waits=waits,
            )
        except QueueBusy:
            leases, waits = [], False
        self._take(leases, now)
        self.is_drained = waits and len(leases) < count
        # Spread, so that many workers do not all ask at the same moment.
        self.claim_at = now + self.plan.poll_s * (0.75 + 0.5 * _chance.random())

    def start(self, now: float) -> None:
        """Hand over what no process has yet."""
        for slot in self.all:
            if slot.batch.open and not slot.is_started:
                leases = slot.batch.open.values()
                slot.start([self._order(lease) for lease in leases], now)
                _log.debug("jobs started", job_ids=list(slot.batch.open))

    def give_up(self) -> None:
        """Stop all handlers, before anybody else may start their jobs."""
        for slot in self.busy:
            slot.kill()

    def hand_back(self) -> None:
        """Release what no process is to do."""
        for slot in self.busy:
            if not slot.is_working:
                slot.batch.give_up()
            for lease in list(slot.batch.unbegun):
                job = lease.job
                try:
                    release_job(job.id, token=lease.token, principal=self.plan.principal)
                except LEASE_LOST as error:
                    self._note_lost(job.id, error)
                else:
                    _log.info("job handed back", job_id=job.id, guild_id=job.guild_id)
                slot.batch.unbegun.remove(lease)
                self._expect_more()

    def _to_write(self, now: float) -> list[tuple[Slot, Ended]]:
        """All that ended, once any of it is due."""
        if not any(slot.is_write_due(now) for slot in self.all):
            return []
        return [(slot, ended) for slot in self.all for ended in slot.batch.ended]

    def _write(self, slot: Slot, ended: Ended, outcome: Done | Failed) -> None:
        try:
            write_outcome(ended.lease, outcome, principal=self.plan.principal)
        except LEASE_LOST as error:
            self._note_lost(ended.lease.job.id, error)
        slot.batch.ended.remove(ended)
        self._expect_more()

    def _most(self, n_slots: int) -> int:
        return min(n_slots * self.plan.batch, COUNT_MOST)

    def _take(self, leases: Sequence[Lease], now: float) -> None:
        """Share them out evenly, in order, so that no place waits for another's batch."""
        free = [slot for slot in self.all if slot.batch.is_empty]
        for n_left, slot in zip(range(len(free), 0, -1), free, strict=True):
            n_jobs = -(-len(leases) // n_left)
            if n_jobs:
                slot.take(leases[:n_jobs], now)
            leases = leases[n_jobs:]

    def _order(self, lease: Lease) -> Order:
        return Order(self.plan.handlers[lease.job.kind], work_of(lease, inputs_of(lease.job)))

    def _expect_more(self) -> None:
        # What just ended may be what the next job waited for.
        self.is_drained = False
        self.claim_at = 0.0

    def _note_lost(self, job_id: JobId, error: Exception) -> None:
        _log.warning("job lost", job_id=job_id, reason=str(error))
        self._expect_more()

    def _note_unfit(self, unfit: Unfit) -> None:
        if self.unfit is None:
            self.unfit = unfit
            _log.error("worker unfit", reason=unfit.reason, traceback=unfit.traceback)
