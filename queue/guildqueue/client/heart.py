"""Heartbeats: one thread of a client that keeps its leases alive, whatever the jobs do.

Python takes the interpreter from a busy thread every few milliseconds, so no pure Python job
starves it. What can is an extension that keeps the interpreter's lock for longer than a lease
lasts: run such work in a process of its own. A stopped process sends nothing either.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from guildqueue.client.errors import ConsoleAway, LeaseLost, RequestFailed

Send = Callable[[str, dict[str, Any]], dict[str, Any]]
BEATS_A_LEASE = 3


@dataclass(slots=True, eq=False)
class Held:
    """One lease of this client, as the thread knows it. ``lost`` is what the console said."""

    job: dict[str, Any]
    token: str
    ttl_s: float
    progress: float | None = None
    lost: LeaseLost | None = None
    is_ended: bool = False
    next_at: float = field(default=0.0)

    def path(self, verb: str) -> str:
        return f"/api/jobs/{self.job['job_id']}/{verb}"

    def check(self) -> None:
        """Raises LeaseLost if the console said so at a heartbeat."""
        if self.lost is not None:
            raise self.lost


class Heart:
    """Beats for what it holds; its thread begins with the first lease and ends with ``stop``."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: set[Held] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def hold(self, held: Held) -> None:
        held.next_at = time.monotonic() + held.ttl_s / BEATS_A_LEASE
        with self._changed:
            self._held.add(held)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="heartbeats", daemon=True)
                self._thread.start()
            self._changed.notify()

    def let_go(self, held: Held) -> None:
        held.is_ended = True
        with self._changed:
            self._held.discard(held)

    def all_held(self) -> list[Held]:
        """What this client holds and has not ended."""
        with self._changed:
            return list(self._held)

    def stop(self) -> None:
        with self._changed:
            self._is_stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=20)

    def _run(self) -> None:
        while (held := self._next()) is not None:
            self._beat(held)

    def _next(self) -> Held | None:
        """The lease whose beat is due, once it is; None to stop."""
        with self._changed:
            while not self._is_stopped:
                first = min(self._held, key=lambda held: held.next_at, default=None)
                left_s = None if first is None else first.next_at - time.monotonic()
                if first is not None and left_s is not None and left_s <= 0:
                    return first
                self._changed.wait(left_s)
            return None

    def _beat(self, held: Held) -> None:
        body: dict[str, Any] = {"token": held.token, "ttl": held.ttl_s}
        if held.progress is not None:
            body["progress"] = held.progress
        pause_s = held.ttl_s / BEATS_A_LEASE
        try:
            self._send(held.path("heartbeat"), body)
        except LeaseLost as lost:
            held.lost = lost
        except RequestFailed as failed:
            # A job that is gone, or a token that was revoked, is as lost.
            if failed.status in (401, 403, 404):
                held.lost = LeaseLost(failed.status, failed.problem)
        except ConsoleAway:
            # Only the console knows whose the lease is by then; soon it is asked again.
            pause_s = min(1.0, pause_s)
        held.next_at = time.monotonic() + pause_s
        if held.lost is not None:
            with self._changed:
                self._held.discard(held)
