"""Wake whoever waits for work: after the commit, never in the transaction that brought the work."""

import atexit
import contextlib
import os
import threading

import structlog
from django.conf import settings
from django.db import transaction

from guildqueue.store.wakeups import Saying

FOLD_S = 0.1
IDLE_S = 60.0  # without anything to say, before the connection is given back
LAST_WORDS_S = 2.0
_log = structlog.get_logger(__name__)


def wake_workers() -> None:
    """Say, once the transaction has committed, that something may be claimable now.

    Costs the caller no statement. The word may be lost with the database or the process: whoever
    waits for it polls as well.
    """
    if settings.QUEUE_WAKE_UPS:
        transaction.on_commit(_wakers[-1].wake, robust=True)


class Waker:
    """Says wake-ups from a thread and a connection that last as long as there are any.

    The first after a quiet spell is said at once. Those that come within FOLD_S are said
    together, once, at its end.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_due = False
        self._is_closing = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Returns at once."""
        with self._changed:
            if self._is_due:
                return
            self._is_due = True
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="waker", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Say what is due and give the connection back, within LAST_WORDS_S; another wake-up
        opens it again."""
        with self._changed:
            thread = self._thread
            self._is_closing = True
            self._changed.notify_all()
        if thread is not None:
            thread.join(LAST_WORDS_S)
        with self._changed:
            self._is_closing = False

    def _run(self) -> None:
        with contextlib.ExitStack() as opened:
            saying: Saying | None = None
            while self._await_due():
                try:
                    if saying is None:
                        saying = opened.enter_context(Saying.open())
                    saying.say()
                except Exception as error:  # noqa: BLE001 - what is not said is polled
                    _log.debug("wake-up not said", reason=" ".join(str(error).split()))
                    opened.close()
                    saying = None
                with self._changed:
                    self._changed.wait_for(lambda: self._is_closing, FOLD_S)

    def _await_due(self) -> bool:
        """True when a wake-up is to be said; False where this thread is no longer needed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_due or self._is_closing, IDLE_S)
            if not self._is_due:
                # Under the lock: whoever asks from now on starts another one.
                self._thread = None
                return False
            self._is_due = False
            return True


# A forked process must neither use nor end its parent's connection, and has none of its threads.
_wakers = [Waker()]
os.register_at_fork(after_in_child=lambda: _wakers.append(Waker()))


@atexit.register
def close_waker() -> None:
    """Say what is due and give the connection back; another wake-up opens it again."""
    _wakers[-1].close()
