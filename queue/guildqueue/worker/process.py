"""A worker's handle on one handler process."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping

from guildqueue.worker.protocol import (
    Drop,
    Order,
    Report,
    decode_report,
    encode_drop,
    encode_orders,
)

# What would lead a handler to the database or let it sign as the console.
_SECRET = (
    "DATABASE_",
    "TEST_DATABASE_",
    "PG",
    "GUILDQUEUE_SECRET",
    "GUILDQUEUE_DATA_DIR",
    "DJANGO_SETTINGS_MODULE",
)
_STDERR = 2
READ_BYTES = 256 * 1024
_ADDRESSES = ("postgres://", "postgresql://")


def handler_environment(environment: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """``environment`` without a way to the database, and with ``extra``.

    The modules that the worker finds are found by its handlers too.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(_SECRET) and not value.startswith(_ADDRESSES)
    }
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return kept | {"PYTHONPATH": path} | dict(extra)


class HandlerProcess:
    """Lives from job to job, so that a loaded model stays; ``bell`` is readable when it has spoken.

    Must be made by the process's main thread: the kernel ends the child with its maker.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        self.bell, ringer = os.pipe()
        for end in (self.bell, ringer):
            os.set_blocking(end, False)
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "guildqueue.worker.child"),
                    *(str(theirs.fileno()), str(ringer)),
                ],
                env=dict(environment),
                pass_fds=[theirs.fileno(), ringer],
                stdin=subprocess.DEVNULL,
                # A handler's prints belong in the log, not among a command's answers.
                stdout=_STDERR,
                # Ctrl+C at a terminal is for the worker, which decides what becomes of the job.
                start_new_session=True,
            )
        os.close(ringer)
        self._socket = ours
        self._unread = b""  # the beginning of a report

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def start(self, orders: Iterable[Order]) -> None:
        """Hand over the work, done in this order. Raises OSError if the process is gone."""
        self._socket.sendall(encode_orders(orders))

    def drop(self, job_ids: Iterable[int]) -> None:
        """Ask that they are not begun; what is not is reported as dropped."""
        with contextlib.suppress(OSError):  # it died, which its reports will say
            self._socket.sendall(encode_drop(Drop(frozenset(job_ids))))

    def reports(self) -> tuple[list[Report], str]:
        """What it said since the last look, in order; and how it ended, empty if it did not."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.bell, 4096)
        received, is_open = self._received()
        *lines, self._unread = received.split(b"\n")
        return [decode_report(line) for line in lines], "" if is_open else self._ending()

    def _received(self) -> tuple[bytes, bool]:
        """What can be read without waiting, and whether there may be more some time."""
        received = [self._unread]
        try:
            while part := self._socket.recv(READ_BYTES, socket.MSG_DONTWAIT):
                received.append(part)
        except BlockingIOError:
            return b"".join(received), True
        except OSError:
            pass
        return b"".join(received), False

    def kill(self) -> list[Report]:
        """End it, and what it started; returns its last reports when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        said, _ = self.reports()
        self._socket.close()
        os.close(self.bell)
        return said

    def _ending(self) -> str:
        # Its end of the socket closes a moment before the process can be waited for.
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "the handler stopped talking"
        if code < 0:
            return f"the handler was killed (signal {-code})"
        return f"the handler ended without a result (exit {code})"
