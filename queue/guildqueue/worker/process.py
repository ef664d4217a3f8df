"""A worker's handle on one handler process."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection

from guildqueue.worker.handler import HandlerWork
from guildqueue.worker.protocol import (
    LONGEST_BYTES,
    Failed,
    Outcome,
    Progress,
    decode_report,
    encode_work,
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
    """Lives from job to job, so that a loaded model stays; ``connection`` has its reports.

    Must be made by the process's main thread: the kernel ends the child with its maker.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "guildqueue.worker.child", str(theirs.fileno())],
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A handler's prints belong in the log, not among a command's answers.
                stdout=_STDERR,
                # Ctrl+C at a terminal is for the worker, which decides what becomes of the job.
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def start(self, handler: str, work: HandlerWork) -> None:
        """Hand over the work. Raises OSError if the process is gone."""
        self.connection.send_bytes(encode_work(handler, work))

    def reports(self) -> list[Progress | Outcome]:
        """What it said since the last look, in order; its death is a failure without a result."""
        found: list[Progress | Outcome] = []
        try:
            while self.connection.poll():
                found.append(decode_report(self.connection.recv_bytes(LONGEST_BYTES)))
        except (EOFError, OSError):
            found.append(Failed(self._ending()))
        return found

    def kill(self) -> None:
        """End it, and what it started; returns when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.connection.close()

    def _ending(self) -> str:
        # Its end of the socket closes a moment before the process can be waited for.
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "the handler stopped talking"
        if code < 0:
            return f"the handler was killed (signal {-code})"
        return f"the handler ended without a result (exit {code})"
