"""One open stream: it sends the newest frame, however slowly it is read, and never a backlog."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from console.live import measures
from console.live.authority import Asked
from console.live.frames import Frame, Message, last_words
from console.live.servers import Connection

GRACE_S = 1.0
_log = structlog.get_logger(__name__)

Send = Callable[[Message], Awaitable[None]]


class Viewer:
    """What one page is still to be sent: at most the rest of a frame, a newer one, a note.

    A task runs only while there is something to send; an idle page costs none.
    """

    __slots__ = (
        "_budget_bytes", "_connection", "_frame", "_last", "_note", "_pump", "_send", "_unsent",
        "asked", "form", "is_closed",
    )  # fmt: skip

    def __init__(
        self, send: Send, connection: Connection, *, asked: Asked, form: str, opening: Message
    ) -> None:
        self.asked = asked
        self.form = form
        self.is_closed = False
        self._send = send
        self._connection = connection
        self._budget_bytes = connection.budget_bytes
        self._unsent: tuple[Message, ...] = (opening,)
        self._frame: Frame | None = None
        self._note: Message | None = None
        self._last: Message | None = None
        self._pump: asyncio.Task[None] | None = None

    def show(self, frame: Frame) -> None:
        """Send ``frame`` instead of any that waits; one that is half sent is finished first."""
        if self._last is None:
            self._frame = frame
            self._wake()

    def note(self, note: Message) -> None:
        """Send a small event after the newest frame, instead of any note that waits."""
        if self._last is None:
            self._note = note
            self._wake()

    def end(self, reason: str) -> None:
        """Send nothing more but the end; a reader who takes not even that is cut off soon."""
        if self._last is not None or self.is_closed:
            return
        measures.ended.labels(reason or "stopping").inc()
        self._frame = self._note = None
        self._last = last_words(reason)
        self._wake()
        asyncio.get_running_loop().call_later(GRACE_S, self._cut_off)

    def close(self) -> None:
        """Forget all of it: the other side is gone."""
        self.is_closed = True
        self._frame = self._note = None
        self._unsent = ()
        if self._pump is not None:
            self._pump.cancel()

    def _cut_off(self) -> None:
        if not self.is_closed:
            self._connection.abort()

    def _wake(self) -> None:
        if self._pump is None and not self.is_closed:
            self._pump = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while not self.is_closed:
                if self._connection.paused:
                    await self._connection.resumed()
                message = self._next()
                if message is None:
                    break
                await self._send(message)
                self._count(message)
        except Exception:  # noqa: BLE001 - nobody awaits this task
            _log.exception("stream broke")
            self._connection.abort()
        finally:
            self._pump = None

    def _next(self) -> Message | None:
        """What to send now: the rest of a frame, a newer frame, the note, the end."""
        if not self._unsent and self._frame is not None:
            self._unsent, self._frame = self._frame.messages, None
            measures.frames_sent.inc()
        if self._unsent:
            message, *rest = self._unsent
            self._unsent = tuple(rest)
            return message
        if self._last is not None:
            message, self._last = self._last, _SAID
            if message is _SAID:
                return None
            self._connection.release()
            return message
        note, self._note = self._note, None
        return note

    def _count(self, message: Message) -> None:
        if self._budget_bytes is not None:
            self._budget_bytes -= len(message["body"])
            if self._budget_bytes < 0:
                self.end("")


_SAID: Message = {}
