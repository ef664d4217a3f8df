"""Wake-ups as something to wait for, beside signals and handlers."""

import contextlib
import os

from guildqueue.services.wakeups import WakeUps


class Bell:
    """A file descriptor to wait for, readable when work may have become claimable."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._wake_ups = WakeUps(self._ring)

    def expect(self) -> int:
        """What to wait for; wake-ups are heard for the next minute. Returns at once."""
        self._wake_ups.expect()
        return self._reader

    def silence(self) -> None:
        """Not readable until the next wake-up."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reader, 4096)

    def close(self) -> None:
        """Must not be used any more. The pipe stays, as a thread that is stuck may still ring."""
        self._wake_ups.close()

    def _ring(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"\0")
