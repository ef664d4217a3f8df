"""A claim that waits for work: asked again and again, it holds no thread and no connection."""

import asyncio
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.http import HttpRequest

from console.live.stopping import on_stop_signal

KEY = "guildqueue.patience"
Message = MutableMapping[str, Any]


@dataclass(slots=True)
class Patience:
    """What one try found: ``wait_s`` is 0.0 but where there was nothing, and waiting is wanted."""

    wait_s: float = 0.0


def wait_if_empty(request: HttpRequest, wait_s: float) -> None:
    """Say that the answer is an empty one, and for how long another one would be better.

    Under WSGI, as with Django's test client, there is nobody to hear it.
    """
    patience = getattr(request, "scope", {}).get(KEY)
    if isinstance(patience, Patience):
        patience.wait_s = wait_s


class Waiting:
    """Django, asked once more every poll interval while it says that waiting is wanted.

    Each try is a request of its own, let in anew. A caller who leaves ends it at the next try,
    a server that stops with the answer as it is.
    """

    def __init__(self, django: Any) -> None:
        self._django = django

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        began = time.monotonic()
        body = await _read_body(receive)
        if body is None:
            return
        stopping = _stop_event()
        gone = asyncio.ensure_future(_until_gone(receive))
        told_to_stop = asyncio.ensure_future(stopping.wait())
        try:
            while True:
                patience = Patience()
                answer = await self._ask({**scope, KEY: patience}, body, gone)
                left_s = patience.wait_s - (time.monotonic() - began)
                if left_s <= 0 or stopping.is_set() or gone.done():
                    break
                pause_s = min(settings.QUEUE_POLL_SECONDS, left_s)
                await asyncio.wait(
                    {gone, told_to_stop}, timeout=pause_s, return_when=asyncio.FIRST_COMPLETED
                )
                if gone.done() or stopping.is_set():
                    break
            for message in answer:
                await send(message)
        finally:
            gone.cancel()
            told_to_stop.cancel()

    async def _ask(
        self, scope: Message, body: bytes, gone: "asyncio.Future[None]"
    ) -> list[Message]:
        """Django's answer to the request, complete and unsent."""
        answer: list[Message] = []
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if unread:
                return unread.pop()
            await asyncio.shield(gone)
            return {"type": "http.disconnect"}

        async def collect(message: Message) -> None:
            answer.append(message)

        await self._django(scope, receive, collect)
        return answer


async def _read_body(receive: Any) -> bytes | None:
    """The whole body; None if its sender left. Of one too large, only as much as shows that."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    read = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if len(read) <= limit:
            read += message.get("body", b"")[: limit + 1]
        if not message.get("more_body"):
            return bytes(read)


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_stopping: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Event] = WeakKeyDictionary()


def _stop_event() -> asyncio.Event:
    """Set once the process is told to stop; one for each event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _stopping:
        _stopping[loop] = asyncio.Event()
        on_stop_signal(_stopping[loop].set)
    return _stopping[loop]
