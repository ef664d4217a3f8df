"""Hearing that work may be claimable, for as long as somebody waits for any."""

import os
import secrets
import threading
import time
from collections.abc import Callable
from multiprocessing import connection

import structlog
from django.conf import settings

from guildqueue.services.hearing import PATIENCE_S, Deaf, retry_pause_s
from guildqueue.store.wakeups import WORK, Hearing, Saying

LINGER_S = 60.0
FOLD_S = 0.05
_log = structlog.get_logger(__name__)


class WakeUps:
    """Calls ``on_wake`` from a thread of its own when work may have become claimable.

    And when it begins to hear, as anything may have been said before. At most every FOLD_S.
    Nothing hangs on it but speed: whatever becomes of the connection, whoever waits polls.
    """

    def __init__(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._expected_until = 0.0
        # Its other end is readable once it is closed.
        self._stopped, stop = os.pipe()
        self._stop: int | None = stop
        self._n_failed = 0

    def expect(self) -> None:
        """Hear for the next LINGER_S seconds; returns at once. Does nothing with wake-ups off."""
        if not settings.QUEUE_WAKE_UPS:
            return
        with self._lock:
            if self._stop is None:
                return
            self._expected_until = time.monotonic() + LINGER_S
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wake-ups", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Give the connection back soon, for good; returns at once."""
        with self._lock:
            self._expected_until = 0.0
            if self._stop is not None:
                os.close(self._stop)
                self._stop = None

    def close(self) -> None:
        """Give the connection back, for good, unless that would take more than a second."""
        self.stop()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(1.0)

    def _run(self) -> None:
        while self._left_s() > 0:
            try:
                with Hearing.open() as hearing:
                    self._prove(hearing)
                    self._regain()
                    self._pass_on(hearing)
            except Exception as error:  # noqa: BLE001 - work is polled meanwhile
                self._lose(error)
                self._pause(retry_pause_s(self._n_failed))

    def _left_s(self) -> float:
        """How long somebody goes on waiting; 0.0 ends this thread."""
        with self._lock:
            left_s = self._expected_until - time.monotonic()
            if left_s <= 0:
                # Under the lock: whoever waits from now on starts another one.
                self._thread = None
            return max(0.0, left_s)

    def _prove(self, hearing: Hearing) -> None:
        """Raises Deaf if what another connection says is not heard."""
        word = secrets.token_hex(8)
        with Saying.open() as saying:
            saying.say(word)
        give_up_at = time.monotonic() + PATIENCE_S
        while (left_s := give_up_at - time.monotonic()) > 0:
            if word in hearing.words(timeout_s=left_s):
                return
        raise Deaf

    def _pass_on(self, hearing: Hearing) -> None:
        self._on_wake()
        while (left_s := self._left_s()) > 0:
            connection.wait([hearing.fileno(), self._stopped], left_s)
            if WORK in hearing.words():
                self._on_wake()
                self._pause(FOLD_S)

    def _pause(self, pause_s: float) -> None:
        connection.wait([self._stopped], pause_s)

    def _regain(self) -> None:
        if self._n_failed:
            _log.info("new work is heard of at once again")
        self._n_failed = 0

    def _lose(self, error: Exception) -> None:
        """Say once what is wrong; that it goes on being wrong is no news."""
        self._n_failed += 1
        if self._n_failed == 1:
            reason = " ".join(str(error).split()) or type(error).__name__
            _log.warning("new work is polled for, not heard of", reason=reason)
