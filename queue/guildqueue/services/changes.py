"""Hearing that a person changed a guild, in whichever process they did."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.store.listening import Listening, listening_address
from guildqueue.store.notify import notify

__all__ = ["Listening", "listening", "listening_address", "parse_guild", "say"]


@asynccontextmanager
async def listening(address: dict[str, Any]) -> AsyncIterator[Listening]:
    """A connection that hears from now on; ``address`` is listening_address's."""
    opened = await Listening.open(address)
    try:
        yield opened
    finally:
        await opened.close()


def say(word: str) -> None:
    """Say a word that names no guild: how a listener finds out whether it hears."""
    notify(word)


def parse_guild(payload: str) -> GuildId | None:
    """The guild that a payload names; None for any other word, also a newer release's."""
    if not (payload.isascii() and payload.isdecimal()) or len(payload) > 19:
        return None
    number = int(payload)
    return GuildId(number) if number <= BIGINT_MAX else None
