"""Hears at once what people change, and proves every so often that it still does.

Nothing hangs on it but speed: what is not heard is polled.
"""

import asyncio
import secrets
from collections.abc import Callable

import structlog

from console.away import is_away
from console.live import measures
from console.live.work import Work
from guildqueue.domain.ids import GuildId
from guildqueue.services import changes
from guildqueue.services.hearing import PATIENCE_S, Deaf, retry_pause_s

_log = structlog.get_logger(__name__)


class Listener:
    """Calls ``on_change`` with each guild that is said to have changed.

    And with None when it hears again after a gap in which anything may have been said.
    """

    def __init__(
        self, work: Work, on_change: Callable[[GuildId | None], None], *, prove_every_s: float
    ) -> None:
        self._work = work
        self._on_change = on_change
        self._prove_every_s = prove_every_s
        self._is_hearing: bool | None = None
        self._n_failed = 0

    async def run(self) -> None:
        """Listen until cancelled, whatever becomes of the connection."""
        try:
            while True:
                try:
                    await self._listen()
                except Exception as error:  # noqa: BLE001 - polling goes on meanwhile
                    self._lose(error)
                await asyncio.sleep(retry_pause_s(self._n_failed))
        finally:
            measures.listening.set(0)

    async def _listen(self) -> None:
        address = await self._work.run(changes.listening_address)
        async with asyncio.timeout(2 * PATIENCE_S) as opening, changes.listening(address) as heard:
            opening.reschedule(None)
            while True:
                word = secrets.token_hex(8)
                await self._work.run(changes.say, word)
                if not await self._hear(heard, for_s=PATIENCE_S, until=word):
                    raise Deaf
                self._regain()
                await self._hear(heard, for_s=self._prove_every_s)

    async def _hear(
        self, heard: changes.Listening, *, for_s: float, until: str | None = None
    ) -> bool:
        """Pass on what is said, for so long; True as soon as ``until`` is."""
        async for payload in heard.payloads(timeout_s=for_s):
            if payload == until:
                return True
            guild_id = changes.parse_guild(payload)
            if guild_id is not None:
                measures.notices.inc()
                self._on_change(guild_id)
        return False

    def _regain(self) -> None:
        if self._is_hearing is not True:
            _log.info("live: hearing of changes at once")
            self._on_change(None)
        self._is_hearing = True
        self._n_failed = 0
        measures.listening.set(1)

    def _lose(self, error: Exception) -> None:
        """Say once what is wrong; that it goes on being wrong is no news."""
        self._n_failed += 1
        measures.listening.set(0)
        if self._is_hearing is False:
            return
        self._is_hearing = False
        words = "live: changes are polled, not heard"
        if isinstance(error, (Deaf, TimeoutError)) or is_away(error):
            _log.warning(words, reason=str(error) or type(error).__name__)
        else:
            _log.exception(words, exc_info=error)
