"""A connection of its own that hears what others notify; nothing else runs on it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from guildqueue.store.notify import CHANNEL

# A peer that is gone without a word is noticed by the kernel within half a minute.
_KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # milliseconds
}


class Listening:
    """Hears the channel until closed, from the moment it is open."""

    def __init__(self, heard: psycopg.AsyncConnection[Any]) -> None:
        self._connection = heard

    @classmethod
    async def open(cls, address: dict[str, Any]) -> Self:
        """Raises psycopg.Error if the server cannot be reached."""
        opened = await psycopg.AsyncConnection.connect(**address, autocommit=True)
        try:
            await opened.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        except BaseException:
            await opened.close()
            raise
        return cls(opened)

    async def payloads(self, *, timeout_s: float) -> AsyncGenerator[str]:
        """What is said on the channel, for so long; nothing is lost between two calls.

        Raises psycopg.Error if the connection ends.
        """
        async with aclosing(self._connection.notifies(timeout=timeout_s)) as notices:
            async for notice in notices:
                yield notice.payload

    async def close(self) -> None:
        await self._connection.close()


def listening_address() -> dict[str, Any]:
    """The parameters of a direct connection: a pooler would not pass on what is said.

    They name LISTEN_DATABASE_URL, or where Django itself connects; this may start the
    embedded server.
    """
    if settings.LISTEN_DATABASE_URL:
        named = psycopg.conninfo.conninfo_to_dict(settings.LISTEN_DATABASE_URL)
        return _parameters(named, "guildqueue listen")
    return _parameters(connection.get_connection_params(), "guildqueue listen")


def saying_address() -> dict[str, Any]:
    """The parameters of a connection to where Django itself connects: a pooler may stand there."""
    return _parameters(connection.get_connection_params(), "guildqueue wake")


def _parameters(named: Mapping[str, Any], application_name: str) -> dict[str, Any]:
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    ours = {"connect_timeout": 5, "application_name": application_name}
    return _KEEPALIVES | {key: named[key] for key in named.keys() & known} | ours
