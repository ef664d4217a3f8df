"""The processes that the parent owns: start, restart with backoff, stop, and no orphans."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

_PR_SET_PDEATHSIG = 1
_LONGEST_WAIT_S = 30.0
_HEALTHY_AFTER_S = 60.0


@dataclass(slots=True)
class Child:
    """A program that should run until the parent stops it."""

    name: str
    command: list[str]
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    start_at: float = 0.0
    started_at: float = 0.0
    failures: int = field(default=0)

    def tend(self, now: float) -> str | None:
        """Start it if it is due, notice its death; the sentence to tell, if any."""
        if self.process is None:
            if now >= self.start_at:
                self._start(now)
            return None
        code = self.process.poll()
        if code is None:
            return None
        self.kill_group(signal.SIGKILL)  # what it may have started itself
        self.process = None
        self.failures = 0 if now - self.started_at > _HEALTHY_AFTER_S else self.failures + 1
        wait_s = min(_LONGEST_WAIT_S, 0.5 * 2.0 ** min(self.failures, 10))
        self.start_at = now + wait_s
        return f"The {self.name} ended ({_ending(code)}); starting it again in {wait_s:g} s."

    def kill_group(self, number: int) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def _start(self, now: float) -> None:
        parent = os.getpid()
        # A session of its own: Ctrl+C reaches the parent alone, which then stops each child once.
        self.process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: die_with(parent),  # noqa: PLW1509 - the parent has no threads
        )
        self.started_at = now


def stop_all(children: list[Child], *, patience_s: float) -> None:
    """Ask all to end, wait, then end them; returns when none is left."""
    for child in children:
        if child.process is not None:
            child.process.terminate()
    give_up_at = time.monotonic() + patience_s
    for child in children:
        if child.process is None:
            continue
        try:
            child.process.wait(max(0.0, give_up_at - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()
        child.kill_group(signal.SIGKILL)
        child.process = None


def die_with(parent: int) -> None:
    """Make the kernel send this process SIGTERM when ``parent`` dies, even by kill -9."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before we asked
        os.kill(os.getpid(), signal.SIGTERM)


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
