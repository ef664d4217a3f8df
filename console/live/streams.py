"""A request to watch, from its arrival to its end: let in, shown what is there, kept posted."""

import random
import time
from io import BytesIO
from typing import Any

import structlog
from asgiref.typing import HTTPScope
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse

from console import measures
from console.away import is_away
from console.live import door
from console.live.authority import Asked, Refusal
from console.live.frames import HEADERS, opening
from console.live.hub import Hub, current_hub
from console.live.kinds import Kind, asked_by, subject_of
from console.live.servers import connection_of
from console.live.subjects import Subject
from console.live.viewer import Viewer
from console.live.work import Closed
from guildqueue.domain.errors import GuildNotFound, SessionNotFound

# Spread over so long, a hundred pages of a process that ended come back at most twenty a second.
RETRY_FROM_MS, RETRY_TO_MS = 1_000, 12_000
_log = structlog.get_logger(__name__)


class Stream(AsyncHttpConsumer):  # type: ignore[misc] # channels has no types
    """Opens in one go and then only waits for the other side to leave.

    While a consumer handles a message it sees no other one, the end of the connection
    included: nothing here waits for what happens after the opening.
    """

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = kind
        self._hub: Hub | None = None
        self._subject: Subject | None = None
        self._viewer: Viewer | None = None
        self._arrived = time.monotonic()

    async def __call__(self, scope: HTTPScope, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        # The inherited one first looks for stale connections of a thread that we do not use.
        match message["type"]:
            case "http.request" if not message.get("more_body"):
                await self._answer()
            case "http.disconnect":
                raise StopConsumer

    async def _answer(self) -> None:
        request = ASGIRequest(self.scope, BytesIO())
        try:
            refused = await self._open(request)
        except (GuildNotFound, SessionNotFound):
            refused = door.refusal(request, self._kind, Refusal.NOT_YOURS)
        except Exception as error:  # noqa: BLE001 - answered as the fault that it is
            refused = self._failed(error)
        status = 200 if refused is None else refused.status_code
        duration_s = time.monotonic() - self._arrived
        measures.count_request(request.method, self._kind.name, status, duration_s=duration_s)
        if refused is not None and self._viewer is None:
            await self._refuse(refused)

    async def _open(self, request: ASGIRequest) -> HttpResponse | None:
        """Begin the stream; or why not, and then nothing was sent."""
        if request.method != "GET":
            return door.wrong_method(self._kind)
        hub = self._hub = current_hub()
        ids = self.scope["url_route"]["kwargs"]
        asked = asked_by(door.credential_of(request, self._kind), ids)
        verdict = await hub.admit(asked)
        if isinstance(verdict, Refusal):
            return door.refusal(request, self._kind, verdict)
        subject = self._subject = subject_of(self._kind, verdict, ids)
        # Sessions stay in their guild, so from now on the guild alone is asked about.
        lasting = Asked(credential=asked.credential, guild_id=verdict.guild_id)
        form = door.form_of(request, self._kind)
        async with hub.watching(subject, form) as topic:
            await self.send_headers(headers=list(HEADERS))
            self._viewer = Viewer(
                self.base_send,
                connection_of(self.base_send),
                asked=lasting,
                form=form,
                opening=opening(random.randint(RETRY_FROM_MS, RETRY_TO_MS)),  # noqa: S311
            )
            topic.admit(self._viewer)
        if hub.is_stopping:
            self._viewer.end("")
        return None

    def _failed(self, error: Exception) -> HttpResponse:
        if isinstance(error, Closed) or is_away(error):
            _log.warning("stream refused", path=self.scope["path"], reason=str(error))
            return door.unavailable(self._kind)
        _log.exception("stream failed", path=self.scope["path"], exc_info=error)
        return door.fault(self._kind)

    async def _refuse(self, refused: HttpResponse) -> None:
        headers = [(k.lower().encode("ascii"), v.encode("latin-1")) for k, v in refused.items()]
        headers.append((b"content-length", str(len(refused.content)).encode()))
        await self.send_headers(status=refused.status_code, headers=headers)
        await self.send_body(refused.content)
        _log.info("stream", path=self.scope["path"], status=refused.status_code)

    def _leave(self) -> None:
        if self._viewer is None or self._hub is None or self._subject is None:
            return
        self._hub.leave(self._subject, self._viewer)
        self._viewer = None
        open_s = round(time.monotonic() - self._arrived, 1)
        _log.info("stream", path=self.scope["path"], status=200, open_s=open_s)
