"""Find what became claimable, or dead, by time alone: lost leases and ended delays.

No index holds the end of a lease, so that heartbeats stay cheap; looking for lost ones reads all
that runs. So it is done before a claim only now and then, and always before a claim says that
there is nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import overdue


@dataclass(slots=True)
class _Look:
    """When this process looked last, by its monotonic clock."""

    at: float = float("-inf")


_last = _Look()


def settle_overdue_now_and_then() -> None:
    """At most once in QUEUE_OVERDUE_SECONDS a process, and not while another one does."""
    now = time.monotonic()
    if now - _last.at >= settings.QUEUE_OVERDUE_SECONDS:
        _last.at = now
        settle_overdue(waits=False)


def settle_overdue(*, waits: bool = True) -> bool:
    """Whether anything became claimable or dead. Waits for another process that is at it."""
    if not overdue.is_overdue():
        return False
    steps: tuple[Callable[[], int], ...] = (
        overdue.settle_leases,
        lambda: overdue.stop_deferring(is_lane=False),
        lambda: overdue.stop_deferring(is_lane=True),
    )
    return sum(_settle(step, waits=waits) for step in steps) > 0


@decided_in_transaction
def _settle(step: Callable[[], int], *, waits: bool) -> int:
    """A transaction each: the marks that they lower are locked guilds first, the lane last."""
    return step() if overdue.lock_overdue(waits=waits) else 0
