"""Waiting for a database that is away: growing pauses, and one line in the log each way."""

from dataclasses import dataclass
from random import SystemRandom

import structlog
from django.db import InterfaceError, InternalError, OperationalError, connections

from guildqueue.domain.errors import QueueBusy
from guildqueue.domain.retry import retry_delay_s

AWAY = (OperationalError, InterfaceError, InternalError, QueueBusy)
"""What passes by itself: the same request will be right later.

An InternalError is how a server that was just demoted refuses to write.
"""

BASE_S = 0.5
_chance = SystemRandom()
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Outage:
    """How long the database has been away, and when to ask again (``monotonic``)."""

    cap_s: float
    n_failures: int = 0
    retry_at: float = 0.0

    def note(self, error: Exception, now: float) -> None:
        """The database did not answer just now."""
        self.n_failures += 1
        # Never a wait of almost nothing, which full jitter may give.
        wait_s = 0.1 + retry_delay_s(
            self.n_failures, base_s=BASE_S, cap_s=self.cap_s, jitter=_chance.random()
        )
        self.retry_at = now + wait_s
        if self.n_failures == 1:
            _log.warning("database away", reason=" ".join(str(error).split()))
        # A connection that broke stays broken; the next statement makes a new one.
        connections.close_all()

    def end(self) -> None:
        """It answered."""
        if self.n_failures:
            _log.info("database back", failures=self.n_failures)
        self.n_failures = 0
        self.retry_at = 0.0
