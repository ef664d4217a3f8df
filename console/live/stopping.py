"""Hearing that the process is told to stop, from inside an application that no server tells."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

STOPPING = (signal.SIGTERM, signal.SIGINT)


class _Call(NamedTuple):
    loop: asyncio.AbstractEventLoop
    call: Callable[[], None]


def on_stop_signal(call: Callable[[], None]) -> None:
    """Run ``call`` in the event loop when a signal says stop, then whatever handled it before.

    A server that waits for its streams before it ends would otherwise wait for ever. Set while
    the server runs, so that its own handlers are there to be called on. Does nothing in a
    thread, where no handler can be set, and for a signal that nobody handles; a call that is
    known already is made once.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    wanted = _Call(asyncio.get_running_loop(), call)
    for number in STOPPING:
        before = signal.getsignal(number)
        calls: list[_Call] | None = getattr(before, "calls", None)
        if calls is None and callable(before):
            calls = []
            signal.signal(number, _chained(before, calls))
        if calls is not None and wanted not in calls:
            calls.append(wanted)


def _chained(
    before: Callable[[int, FrameType | None], Any], calls: list[_Call]
) -> Callable[[int, FrameType | None], Any]:
    def handler(number: int, frame: FrameType | None) -> None:
        for loop, call in calls:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call)
        before(number, frame)

    handler.calls = calls  # type: ignore[attr-defined]
    return handler
