"""How a handler process says what came of its jobs, without waking the worker for each."""

import contextlib
import os
import threading
import time
from socket import socket

from guildqueue.worker.protocol import Report, encode_report

RING_EVERY_S = 0.005
# A socket that is full of small messages stops who writes: well below what it takes.
MOST_UNHEARD = 64
MOST_UNHEARD_BYTES = 32 * 1024


class Reports:
    """Each is on its way at once, so that none dies with this process; the worker reads at a ring.

    It is woken by what is urgent, and else once for many.
    """

    def __init__(self, worker: socket, bell: int) -> None:
        self._worker = worker
        self._bell = bell
        # Handlers may have threads.
        self._lock = threading.Lock()
        self._n_unheard = 0
        self._n_bytes = 0
        self._unheard_since = 0.0

    def say(self, report: Report, *, is_urgent: bool) -> None:
        """Raises TypeError or ValueError for what is not JSON."""
        message = encode_report(report)
        with self._lock:
            now = time.monotonic()
            if not self._n_unheard:
                self._unheard_since = now
            self._n_unheard += 1
            self._n_bytes += len(message)
            if self._n_unheard > MOST_UNHEARD or self._n_bytes > MOST_UNHEARD_BYTES:
                self._ring()
            self._worker.sendall(message)
            if is_urgent or now >= self._unheard_since + RING_EVERY_S:
                self._ring()

    def ring(self) -> None:
        """Have the worker read what was said."""
        with self._lock:
            self._ring()

    def _ring(self) -> None:
        # Full, it has been rung often enough.
        with contextlib.suppress(BlockingIOError):
            os.write(self._bell, b"\0")
        self._n_unheard = self._n_bytes = 0
