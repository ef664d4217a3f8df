"""The word that work may be claimable: saying it and hearing it, on connections of their own."""

from collections.abc import Sequence
from typing import Any, Self

import psycopg
from psycopg import sql

from guildqueue.store.listening import listening_address, saying_address
from guildqueue.store.statements import load_statements

CHANNEL = "guildqueue_work"
WORK = ""
"""The word itself; any other one is between those who say and hear it."""


class _OwnConnection:
    """A connection without a transaction, closed at the end of a ``with``."""

    def __init__(self, opened: psycopg.Connection[Any]) -> None:
        self._connection = opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()


class Saying(_OwnConnection):
    """Says words on the channel; its methods raise psycopg.Error."""

    @classmethod
    def open(cls) -> Self:
        return cls(psycopg.connect(**saying_address(), autocommit=True, prepare_threshold=None))

    def say(self, word: str = WORK) -> None:
        self._connection.execute(
            load_statements()["say_wake_up"], {"channel": CHANNEL, "word": word}
        )


class Hearing(_OwnConnection):
    """Hears the channel from the moment it is open; its methods raise psycopg.Error."""

    @classmethod
    def open(cls) -> Self:
        opened = psycopg.connect(**listening_address(), autocommit=True)
        try:
            opened.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        except BaseException:
            opened.close()
            raise
        return cls(opened)

    def fileno(self) -> int:
        """Readable when something was said that ``words`` has not given."""
        return self._connection.fileno()

    def words(self, *, timeout_s: float = 0.0) -> Sequence[str]:
        """What was said since the last look; waits for a first word at most so long."""
        heard = self._connection.notifies(timeout=timeout_s, stop_after=1)
        return [notice.payload for notice in heard]
