"""Hearing that the process is told to stop, from inside an application that no server tells."""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

STOPPING = (signal.SIGTERM, signal.SIGINT)


def on_stop_signal(call: Callable[[], None]) -> None:
    """Run ``call`` in the event loop when a signal says stop, then whatever handled it before.

    A server that waits for its streams before it ends would otherwise wait for ever. Set while
    the server runs, so that its own handlers are there to be called on. Does nothing in a
    thread, where no handler can be set, and for a signal that nobody handles.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in STOPPING:
        before = signal.getsignal(number)
        if callable(before) and not hasattr(before, "passes_on"):
            signal.signal(number, _chained(before, loop, call))


def _chained(
    before: Callable[[int, FrameType | None], Any],
    loop: asyncio.AbstractEventLoop,
    call: Callable[[], None],
) -> Callable[[int, FrameType | None], Any]:
    def handler(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(call)
        before(number, frame)

    handler.passes_on = before  # type: ignore[attr-defined]
    return handler
