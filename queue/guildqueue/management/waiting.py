"""A command that waits for work: asked again when some is heard of, and every poll interval."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing

from django.conf import settings
from django.db import connections

from guildqueue.domain.job import Lease
from guildqueue.services.wakeups import WakeUps

WAIT_MOST_S = 60.0


def claimed_within(wait_s: float, claim: Callable[[], Sequence[Lease]]) -> Sequence[Lease]:
    """The first of the claims that is not empty, or an empty one after ``wait_s`` seconds.

    Whoever waits holds no connection but the one that hears.
    """
    ends_at = time.monotonic() + wait_s
    leases = claim()
    if leases or wait_s <= 0:
        return leases
    woken = threading.Event()
    with closing(WakeUps(woken.set)) as wake_ups:
        while not leases and (left_s := ends_at - time.monotonic()) > 0:
            wake_ups.expect()
            connections.close_all()
            woken.wait(min(settings.QUEUE_POLL_SECONDS, left_s))
            woken.clear()
            leases = claim()
    return leases
