"""Who of those that wait for work tries again, and when."""

import asyncio
import random
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from django.conf import settings

from console.live.stopping import on_stop_signal
from guildqueue.services.wakeups import WakeUps

TRIES_AT_ONCE = 4
FRESH_S = 0.5


class Crowd:
    """Those who wait for the same work with the same rights, in the order in which they came.

    One of them tries at a time. Where it finds nothing, nobody else would have; where it found
    something it leaves, and the next one tries.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[asyncio.Event, None] = {}
        self._trying: asyncio.Event | None = None
        self._is_due = False
        self._tried_at = float("-inf")
        self._poll = self._poll_later()

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def lets_try(self, called: asyncio.Event) -> bool:
        """Whether it is that one's turn, or nobody has just tried and its time is up."""
        now = self._loop.time()
        if not called.is_set() and now - self._tried_at < FRESH_S:
            return False
        self._tried_at = now
        return True

    def call(self) -> None:
        """Let the one who has waited longest try: now, or when the one who tries has."""
        if self._trying is not None:
            self._is_due = True
        elif self._waiting:
            self._trying = next(iter(self._waiting))
            self._trying.set()

    @contextmanager
    def joined(self) -> Iterator[asyncio.Event]:
        """What is set when it is the caller's turn to try."""
        called = asyncio.Event()
        self._waiting[called] = None
        try:
            yield called
        finally:
            del self._waiting[called]
            if self._trying is called:
                self._trying = None
                self.call()

    def rest(self, called: asyncio.Event) -> None:
        """The one whose turn it was tried in vain, and waits on in its place."""
        called.clear()
        self._trying = None
        if self._is_due:
            self._is_due = False
            self.call()

    def close(self) -> None:
        self._poll.cancel()

    def _poll_later(self) -> asyncio.TimerHandle:
        # Spread, so that several crowds and processes do not all ask at the same moment.
        pause_s = settings.QUEUE_POLL_SECONDS * random.uniform(0.75, 1.25)  # noqa: S311
        return self._loop.call_later(pause_s, self._poll_now)

    def _poll_now(self) -> None:
        self.call()
        self._poll = self._poll_later()


class WaitingRoom:
    """All crowds of a process and event loop; one connection, while somebody waits, wakes them.

    ``n_wakes`` tells whether a wake-up came since somebody looked. Whoever tries holds
    ``may_try``: the others of the process must get their answers too.
    """

    def __init__(self) -> None:
        self.n_wakes = 0
        self.may_try = asyncio.Semaphore(TRIES_AT_ONCE)
        self._crowds: dict[Hashable, Crowd] = {}
        self._loop = asyncio.get_running_loop()
        self._wake_ups = WakeUps(self._wake_from_thread)

    @contextmanager
    def crowd(self, kind: Hashable, *, since: int) -> Iterator[Crowd]:
        """The crowd of that kind, which tries at once if a wake-up came after ``since``."""
        crowd = self._crowds.get(kind) or self._crowds.setdefault(kind, Crowd())
        self._wake_ups.expect()
        if self.n_wakes != since:
            self._loop.call_soon(crowd.call)
        try:
            yield crowd
        finally:
            if crowd.is_empty and self._crowds.get(kind) is crowd:
                del self._crowds[kind]
                crowd.close()

    def wake(self) -> None:
        self.n_wakes += 1
        for crowd in self._crowds.values():
            crowd.call()

    def stop(self) -> None:
        """Hear no more; whoever waits is told by others that it is over."""
        self._wake_ups.stop()

    def _wake_from_thread(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.wake)


_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, WaitingRoom] = WeakKeyDictionary()


def current_room() -> WaitingRoom:
    """The room of the running event loop, made at its first use."""
    loop = asyncio.get_running_loop()
    if loop not in _rooms:
        _rooms[loop] = WaitingRoom()
        on_stop_signal(_rooms[loop].stop)
    return _rooms[loop]
