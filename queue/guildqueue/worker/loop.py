"""The worker's loop: claim, hand to handlers, keep the leases alive, write what came of it.

One thread and one database connection do all of it; handlers run in processes of their own, so
the busiest of them cannot keep a heartbeat from being sent.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from random import SystemRandom

import structlog

from guildqueue.domain.errors import JobNotFound, LeaseCancelled, QueueBusy, StaleLease
from guildqueue.domain.job import Lease
from guildqueue.services.claim import claim_jobs
from guildqueue.services.fold_counters import fold_counters
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.prune_cursors import prune_cursors
from guildqueue.services.prune_marks import prune_marks
from guildqueue.services.release import release_job
from guildqueue.worker.bell import Bell
from guildqueue.worker.handler import WorkerUnfit
from guildqueue.worker.inputs import inputs_of
from guildqueue.worker.outage import AWAY, Outage
from guildqueue.worker.outcome import UNSTORABLE, turn_over, write_outcome
from guildqueue.worker.plan import WorkerPlan
from guildqueue.worker.protocol import Done, Unfit
from guildqueue.worker.signals import StopSignals
from guildqueue.worker.slot import Slot

LEASE_LOST = (StaleLease, LeaseCancelled, JobNotFound)
FOLD_EVERY_S = 60.0
LAST_WORDS_S = 3.0  # for handing back jobs while the database is away
_chance = SystemRandom()
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Worker:
    """``run`` until asked to stop, or, with ``once``, until nothing is claimable."""

    plan: WorkerPlan
    signals: StopSignals
    slots: list[Slot] = field(init=False)
    outage: Outage = field(init=False)
    bell: Bell = field(default_factory=Bell)
    unfit: Unfit | None = None
    is_drained: bool = False
    stop_at: float | None = None
    claim_at: float = 0.0
    fold_at: float = 0.0

    def __post_init__(self) -> None:
        # A third of the lease and not a moment more, so that two beats may be lost.
        beat_every_s = self.plan.ttl_s / 3
        self.slots = [
            Slot(beat_every_s, self.plan.environment) for _ in range(self.plan.concurrency)
        ]
        self.outage = Outage(cap_s=min(5.0, beat_every_s))

    def run(self) -> None:
        """Raises WorkerUnfit if a handler says that this machine cannot do such jobs."""
        _log.info("worker started", principal=self.plan.principal, kinds=list(self.plan.handlers))
        try:
            while not self.is_finished:
                self.step()
        finally:
            self.bell.close()
            for slot in self.slots:
                slot.kill()
        if self.unfit is not None:
            raise WorkerUnfit(self.unfit.reason)
        _log.info("worker stopped", principal=self.plan.principal)

    def step(self) -> None:
        """One turn: hear signals and handlers, tell the database, wait for the next thing."""
        self._hear_signals()
        for slot in self.slots:
            slot.listen()
        now = time.monotonic()
        if now >= self.outage.retry_at:
            try:
                self._tell_database(now)
            except AWAY as error:
                self.outage.note(error, time.monotonic())
            else:
                self.outage.end()
        self._wait()

    @property
    def busy(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.lease is not None]

    @property
    def is_stopping(self) -> bool:
        return self.stop_at is not None

    @property
    def is_finished(self) -> bool:
        if self.stop_at is None:
            return self.plan.once and self.is_drained and not self.busy
        return not self.busy or time.monotonic() >= self.stop_at + LAST_WORDS_S

    def _hear_signals(self) -> None:
        n_asked = self.signals.read()
        now = time.monotonic()
        if n_asked and self.stop_at is None:
            self.stop_at = now + self.plan.grace_s
            _log.info("worker stopping", running=len(self.busy), grace_s=self.plan.grace_s)
        if n_asked > 1 and self.stop_at is not None:
            self.stop_at = min(self.stop_at, now)

    def _tell_database(self, now: float) -> None:
        # Heartbeats first: nothing that waits for a lock may cost another job its lease.
        for slot in self.busy:
            if slot.is_working and not self._is_handing_back:
                self._beat(slot, now)
        self._turn_over(now)
        for slot in self.busy:
            if not slot.is_working or self._is_handing_back:
                self._settle(slot)
        self._claim(now)
        self._fold(now)

    @property
    def _is_handing_back(self) -> bool:
        return self.stop_at is not None and time.monotonic() >= self.stop_at

    def _beat(self, slot: Slot, now: float) -> None:
        lease = slot.lease
        if lease is None or now < slot.due_at:
            return
        try:
            extend_lease(
                lease.job.id,
                token=lease.token,
                principal=self.plan.principal,
                ttl_s=self.plan.ttl_s,
                progress=slot.progress,
            )
        except LEASE_LOST as error:
            self._lose(slot, error)
        else:
            slot.was_heard(now)

    def _settle(self, slot: Slot) -> None:
        """Start what was claimed, write what ended, hand back what must not go on."""
        lease = slot.lease
        if lease is None:
            return
        try:
            if isinstance(slot.outcome, Unfit):
                self._give_up(slot.outcome)
                self._hand_back(slot)
            elif slot.outcome is not None:
                write_outcome(lease, slot.outcome, principal=self.plan.principal)
                self._empty(slot)
            elif self._is_handing_back:
                self._hand_back(slot)
            else:
                self._start(slot)
        except LEASE_LOST as error:
            self._lose(slot, error)

    def _start(self, slot: Slot) -> None:
        if slot.lease is None:
            return
        job = slot.lease.job
        slot.start(self.plan.handlers[job.kind], inputs_of(job))
        _log.debug(
            "job started",
            job_id=job.id,
            guild_id=job.guild_id,
            session_id=job.session_id,
            kind=job.kind,
            attempt=job.attempt,
        )

    def _hand_back(self, slot: Slot) -> None:
        """Stop the handler before anybody else may start the job."""
        if slot.lease is None:
            return
        job, token = slot.lease.job, slot.lease.token
        slot.kill()
        release_job(job.id, token=token, principal=self.plan.principal)
        _log.info("job handed back", job_id=job.id, guild_id=job.guild_id)
        self._empty(slot)

    def _lose(self, slot: Slot, error: Exception) -> None:
        """The lease is gone: nothing more may be written, so nothing more is done."""
        _log.warning("job lost", job_id=slot.lease and slot.lease.job.id, reason=str(error))
        self._empty(slot)

    def _empty(self, slot: Slot) -> None:
        slot.clear()
        # What just ended may be what the next job waited for.
        self.is_drained = False
        self.claim_at = 0.0

    def _give_up(self, unfit: Unfit) -> None:
        if self.unfit is not None:
            return
        self.unfit = unfit
        self.stop_at = time.monotonic()
        _log.error("worker unfit", reason=unfit.reason, traceback=unfit.traceback)

    def _turn_over(self, now: float) -> None:
        """Write what was done and claim what is next, in one commit."""
        done = [
            (slot, slot.lease, slot.outcome)
            for slot in self.slots
            if slot.lease is not None and isinstance(slot.outcome, Done)
        ]
        if not done or self.is_stopping:
            return
        try:
            turnover = turn_over(
                [(lease, outcome) for _, lease, outcome in done],
                principal=self.plan.principal,
                filter=self.plan.filter,
                count=len(self.slots) - len(self.busy) + len(done),
                ttl_s=self.plan.ttl_s,
            )
        except UNSTORABLE:
            return  # one by one then, so that only what cannot be stored fails
        for slot, lease, _ in done:
            lost = turnover.lost.get(lease.job.id)
            if lost is not None:
                self._lose(slot, lost)
            else:
                self._empty(slot)
        self._take(turnover.leases, now)

    def _claim(self, now: float) -> None:
        n_free = len(self.slots) - len(self.busy)
        if self.is_stopping or not n_free or now < self.claim_at:
            return
        # A lock that is waited for must not cost the jobs that run their leases.
        waits = not self.busy
        try:
            leases = claim_jobs(
                self.plan.principal,
                count=n_free,
                ttl_s=self.plan.ttl_s,
                filter=self.plan.filter,
                waits=waits,
            )
        except QueueBusy:
            leases, waits = [], False
        self._take(leases, now)
        self.is_drained = waits and len(leases) < n_free
        # Spread, so that many workers do not all ask at the same moment.
        self.claim_at = now + self.plan.poll_s * (0.75 + 0.5 * _chance.random())

    def _take(self, leases: Sequence[Lease], now: float) -> None:
        free = [slot for slot in self.slots if slot.lease is None]
        for slot, lease in zip(free, leases, strict=False):
            slot.take(lease, now)

    def _fold(self, now: float) -> None:
        if self.is_stopping or now < self.fold_at:
            return
        fold_counters()
        prune_cursors()
        prune_marks()
        self.fold_at = now + FOLD_EVERY_S * (0.75 + 0.5 * _chance.random())

    def _wait(self) -> None:
        """Until a signal, a handler's word, a wake-up or the next thing that is due."""
        if self.is_finished:
            return
        working = [s.process.connection for s in self.busy if s.process and s.is_working]
        waking = [self.bell.expect()] if self._is_idle else []
        timeout_s = max(0.0, self._due_at() - time.monotonic())
        ready = connection.wait([self.signals.fileno(), *waking, *working], timeout_s)
        if any(woken in ready for woken in waking):
            self.bell.silence()
            self.claim_at = 0.0

    @property
    def _is_idle(self) -> bool:
        """Whether a slot waits for work that may come; with ``once`` none does."""
        is_waiting = self.is_drained and len(self.busy) < len(self.slots)
        return is_waiting and not self.is_stopping and not self.plan.once

    def _due_at(self) -> float:
        due = [0.0 if self._is_handing_back else slot.due_at for slot in self.busy]
        if not self.is_stopping and len(due) < len(self.slots):
            due.append(self.claim_at)
        next_at = max(min(due, default=float("inf")), self.outage.retry_at)
        return next_at if self.stop_at is None else min(next_at, self._stop_due_at())

    def _stop_due_at(self) -> float:
        """When the grace ends; after that, when the last words do."""
        if self.stop_at is None:
            return float("inf")
        return self.stop_at + (LAST_WORDS_S if self._is_handing_back else 0.0)
