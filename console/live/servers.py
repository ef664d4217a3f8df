"""What ASGI does not show of a connection: when to stop writing, and how to cut it off.

It leans on internals of daphne and uvicorn, which tests pin. Where they are not found a stream
still works: it is then ended after so many bytes, as its reader may have stalled.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

BLIND_BUDGET_BYTES = 4 * 1024 * 1024


class Connection:
    """A connection of a server whose ``send`` waits for a slow reader, as uvicorn's does."""

    __slots__ = ("_transport", "budget_bytes", "paused")

    def __init__(self, transport: Any = None, *, budget_bytes: int | None = None) -> None:
        self._transport = transport
        self.budget_bytes = budget_bytes
        self.paused = False

    async def resumed(self) -> None:
        """Return when there is room again; needed only while ``paused``."""

    def release(self) -> None:
        """Before the last message: nothing will be written after it."""

    def abort(self) -> None:
        """Cut the connection off, whatever is unsent; nothing where that cannot be done."""
        if self._transport is not None:
            self._transport.abort()


class PushedBack(Connection):
    """A daphne connection: Twisted pauses and resumes it as the producer of its response.

    daphne's own ``send`` never waits, and would keep all that a stalled reader does not take.
    """

    __slots__ = ("_request", "_room")

    def __init__(self, request: Any) -> None:
        super().__init__()
        self._request = request
        self._room: asyncio.Future[None] | None = None
        request.registerProducer(self, True)

    async def resumed(self) -> None:
        while self.paused:
            self._room = self._room or asyncio.get_running_loop().create_future()
            await self._room

    def release(self) -> None:
        if self._request.channel is not None:
            self._request.unregisterProducer()

    def abort(self) -> None:
        with contextlib.suppress(AttributeError):
            self._request.channel.transport.abortConnection()

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's IPushProducer
        self.paused = True

    def resumeProducing(self) -> None:  # noqa: N802
        self.paused = False
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._room = None

    def stopProducing(self) -> None:  # noqa: N802
        self.resumeProducing()


def connection_of(send: Callable[..., Any]) -> Connection:
    """What stands behind an ASGI ``send``; nothing of ours may have wrapped it."""
    if isinstance(send, partial) and send.args:
        try:
            return PushedBack(send.args[0])
        except (AttributeError, TypeError, ValueError, RuntimeError):
            return Connection(budget_bytes=BLIND_BUDGET_BYTES)
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    return Connection(transport if hasattr(transport, "abort") else None)
