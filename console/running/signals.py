"""Signals as something to wait for, so that the parent's loop has no handler that runs code."""

import os
import select
import signal

STOPPING = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


class SignalPipe:
    """From its making on, the signals that stop us and a child's death arrive here only."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(writer, False)
        os.set_blocking(self._reader, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (*STOPPING, signal.SIGCHLD):
            # Explicitly, also where a shell's background job was started with SIGINT ignored.
            signal.signal(number, lambda *_: None)

    def wait(self, timeout_s: float) -> bool:
        """Wait for a signal, at most ``timeout_s``; True if one of them says stop."""
        ready, _, _ = select.select([self._reader], [], [], timeout_s)
        arrived = os.read(self._reader, 4096) if ready else b""
        return any(number in STOPPING for number in arrived)
