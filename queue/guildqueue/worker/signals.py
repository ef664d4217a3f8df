"""Signals as something to wait for, so that a handler of ours never runs in mid-statement."""

import os
import select
import signal
from types import TracebackType
from typing import Self

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopSignals:
    """While entered, how often this process was asked to stop; main thread only."""

    def __init__(self) -> None:
        self.n_asked = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def fileno(self) -> int:
        """Readable when something arrived that ``read`` has not counted."""
        return self._reader

    def __enter__(self) -> Self:
        self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._before = {
            number: signal.signal(number, lambda *_: None)
            for number in STOPPING
            if not _is_kept_by_nohup(number)
        }
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._reader)
        os.close(self._writer)

    def wait(self, timeout_s: float) -> None:
        """Return when something arrives, after ``timeout_s`` seconds at the latest."""
        select.select([self._reader], [], [], max(0.0, timeout_s))

    def read(self) -> int:
        """How often we were asked to stop, ever."""
        try:
            arrived = os.read(self._reader, 4096)
        except BlockingIOError:
            arrived = b""
        self.n_asked += sum(number in STOPPING for number in arrived)
        return self.n_asked


def _is_kept_by_nohup(number: signal.Signals) -> bool:
    # A shell's background job may begin with SIGINT ignored as well, but there Ctrl+C was meant.
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
