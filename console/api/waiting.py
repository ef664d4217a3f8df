"""A claim that waits for work: asked again when there may be some, it holds no connection."""

import asyncio
import json
import time
from collections.abc import Hashable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings

from console.api.patience import KEY, Patience
from console.api.waiting_room import current_room
from console.live.stopping import on_stop_signal

Message = MutableMapping[str, Any]


class Waiting:
    """Django, asked once more at each wake-up, and each poll interval, while waiting is wanted.

    Each try is a request of its own, let in anew. A caller who leaves, and a server that stops,
    end it with the answer as it is.
    """

    def __init__(self, django: Any) -> None:
        self._django = django

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        began = time.perf_counter()
        body = await _read_body(receive)
        if body is None:
            return
        gone = asyncio.ensure_future(_until_gone(receive))
        stopping = asyncio.ensure_future(_stop_event().wait())
        claim = _Claim(self._django, scope, body, gone, stopping, began)
        try:
            await claim.settle()
        finally:
            gone.cancel()
            stopping.cancel()
            if claim.patience.note is not None:
                claim.patience.note()
        for message in claim.answer:
            await send(message)


@dataclass(slots=True)
class _Claim:
    """One claim, and the last answer to it: complete and unsent."""

    django: Any
    scope: Mapping[str, Any]
    body: bytes
    gone: "asyncio.Future[Any]"
    stopping: "asyncio.Future[Any]"
    began: float
    patience: Patience = field(default_factory=Patience)
    answer: list[Message] = field(default_factory=list)

    async def settle(self) -> None:
        """Ask until there is something, or nobody wants it any more."""
        room = current_room()
        n_wakes = room.n_wakes
        await self._try()
        if self._left_s <= 0:
            return
        with room.crowd(self._kind(), since=n_wakes) as crowd, crowd.joined() as called:
            while self._left_s > 0:
                await self._until(called)
                async with room.may_try:
                    if self._is_over or not crowd.lets_try(called):
                        return
                    await self._try()
                if self._left_s > 0:
                    crowd.rest(called)

    @property
    def _left_s(self) -> float:
        return self.patience.wait_s - (time.perf_counter() - self.began)

    @property
    def _is_over(self) -> bool:
        return self.gone.done() or self.stopping.done()

    def _kind(self) -> Hashable:
        """The same for claims of which one finds nothing where another finds nothing.

        Whoever waits has sent a body that is right.
        """
        rights = tuple(
            value for name, value in self.scope["headers"] if name in {b"authorization", b"cookie"}
        )
        return rights, json.dumps(json.loads(self.body).get("filter"), sort_keys=True)

    async def _until(self, called: asyncio.Event) -> None:
        """Until it is our turn, it is over, or time is up."""
        turn = asyncio.ensure_future(called.wait())
        try:
            await asyncio.wait(
                {turn, self.gone, self.stopping},
                timeout=self._left_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            turn.cancel()

    async def _try(self) -> None:
        self.patience = Patience(began=self.began)
        answer: list[Message] = []
        unread = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def receive() -> Message:
            if unread:
                return unread.pop()
            await asyncio.shield(self.gone)
            return {"type": "http.disconnect"}

        async def collect(message: Message) -> None:
            answer.append(message)

        await self.django({**self.scope, KEY: self.patience}, receive, collect)
        self.answer = answer


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
