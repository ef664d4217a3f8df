"""The worker's loop: claim, hand to handlers, keep the leases alive, write what came of it.

One thread and one database connection do all of it; handlers run in processes of their own, so
the busiest of them cannot keep a heartbeat from being sent.
"""

import select
import time
from dataclasses import dataclass, field
from random import SystemRandom

import structlog

from guildqueue.services.fold_counters import fold_counters
from guildqueue.services.prune_cursors import prune_cursors
from guildqueue.services.prune_marks import prune_marks
from guildqueue.worker.bell import Bell
from guildqueue.worker.handler import WorkerUnfit
from guildqueue.worker.outage import AWAY, Outage
from guildqueue.worker.plan import WorkerPlan
from guildqueue.worker.signals import StopSignals
from guildqueue.worker.slots import Slots

FOLD_EVERY_S = 60.0
LONGEST_WAIT_S = 3600.0  # of which select takes any
LAST_WORDS_S = 3.0  # for handing back jobs while the database is away
_chance = SystemRandom()
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Worker:
    """``run`` until asked to stop, or, with ``once``, until nothing is claimable."""

    plan: WorkerPlan
    signals: StopSignals
    slots: Slots = field(init=False)
    outage: Outage = field(init=False)
    bell: Bell = field(default_factory=Bell)
    stop_at: float | None = None
    fold_at: float = 0.0

    def __post_init__(self) -> None:
        self.slots = Slots(self.plan)
        self.outage = Outage(cap_s=min(5.0, self.plan.beat_every_s))

    def run(self) -> None:
        """Raises WorkerUnfit if a handler says that this machine cannot do such jobs."""
        _log.info("worker started", principal=self.plan.principal, kinds=list(self.plan.handlers))
        try:
            while not self.is_finished:
                self.step()
        finally:
            self.bell.close()
            for slot in self.slots.all:
                slot.kill()
        if self.slots.unfit is not None:
            raise WorkerUnfit(self.slots.unfit.reason)
        _log.info("worker stopped", principal=self.plan.principal)

    def step(self) -> None:
        """One turn: hear signals and handlers, tell the database, wait for the next thing."""
        self._hear_signals()
        now = time.monotonic()
        for slot in self.slots.all:
            slot.listen(now)
        if now >= self.outage.retry_at:
            try:
                self._tell_database(now)
            except AWAY as error:
                self.outage.note(error, time.monotonic())
            else:
                self.outage.end()
        self.slots.say_done()
        self._wait()

    @property
    def is_stopping(self) -> bool:
        return self.stop_at is not None

    @property
    def is_finished(self) -> bool:
        if self.stop_at is None:
            return self.plan.once and self.slots.is_drained and not self.slots.busy
        return not self.slots.busy or time.monotonic() >= self.stop_at + LAST_WORDS_S

    def _hear_signals(self) -> None:
        n_asked = self.signals.read()
        now = time.monotonic()
        if n_asked and self.stop_at is None:
            self.stop_at = now + self.plan.grace_s
            running = len(self.slots.busy)
            _log.info("worker stopping", running=running, grace_s=self.plan.grace_s)
            for slot in self.slots.all:
                slot.recall()
        if n_asked > 1 and self.stop_at is not None:
            self.stop_at = min(self.stop_at, now)

    def _tell_database(self, now: float) -> None:
        # Heartbeats first: nothing that waits for a lock may cost another job its lease.
        if self._is_handing_back:
            self.slots.give_up()
        else:
            self.slots.beat(now)
        self.slots.write_failures(now)
        if self.slots.unfit is not None and not self._is_handing_back:
            self.stop_at = now
        self.slots.turn_over(now, claims=not self.is_stopping)
        if self.is_stopping:
            self.slots.hand_back()
            return
        self.slots.start(now)
        self.slots.claim(now)
        self.slots.start(now)
        self._fold(now)

    @property
    def _is_handing_back(self) -> bool:
        return self.stop_at is not None and time.monotonic() >= self.stop_at

    def _fold(self, now: float) -> None:
        if now < self.fold_at:
            return
        fold_counters()
        prune_cursors()
        prune_marks()
        self.fold_at = now + FOLD_EVERY_S * (0.75 + 0.5 * _chance.random())

    def _wait(self) -> None:
        """Until a signal, a handler's word, a wake-up or the next thing that is due."""
        if self.is_finished:
            return
        waking = [self.bell.expect()] if self._is_idle else []
        timeout_s = max(0.0, self._due_at() - time.monotonic())
        waited_for = [self.signals.fileno(), *waking, *self.slots.bells]
        ready, _, _ = select.select(waited_for, [], [], min(timeout_s, LONGEST_WAIT_S))
        if any(woken in ready for woken in waking):
            self.bell.silence()
            self.slots.claim_at = 0.0

    @property
    def _is_idle(self) -> bool:
        """Whether a slot waits for work that may come; with ``once`` none does."""
        is_waiting = self.slots.is_drained and self.slots.n_free > 0
        return is_waiting and not self.is_stopping and not self.plan.once

    def _due_at(self) -> float:
        due = [0.0 if self._is_handing_back else slot.due_at for slot in self.slots.busy]
        if not self.is_stopping and self.slots.n_free:
            due.append(self.slots.claim_at)
        next_at = max(min(due, default=float("inf")), self.outage.retry_at)
        return next_at if self.stop_at is None else min(next_at, self._stop_due_at())

    def _stop_due_at(self) -> float:
        """When the grace ends; after that, when the last words do."""
        if self.stop_at is None:
            return float("inf")
        return self.stop_at + (LAST_WORDS_S if self._is_handing_back else 0.0)
