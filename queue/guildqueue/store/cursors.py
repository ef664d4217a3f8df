"""Whose turn it is: the guild that had the last one, by principal and filter scope."""

from collections.abc import Collection

from guildqueue.domain.ids import GuildId
from guildqueue.store.leases import Wanted
from guildqueue.store.statements import execute, row


def read_cursor(principal: str, filter_hash: str) -> GuildId | None:
    """The guild of the last turn; None before the first."""
    found = row("read_cursor", {"principal": principal, "filter_hash": filter_hash})
    return GuildId(found.guild_id) if found else None


def append_cursor(principal: str, filter_hash: str, guild_id: GuildId) -> None:
    """Note the turn just taken."""
    execute(
        "append_cursor",
        {"principal": principal, "filter_hash": filter_hash, "guild_id": guild_id},
    )


def find_turn(
    wanted: Wanted, *, last: GuildId | None, passed: Collection[GuildId]
) -> GuildId | None:
    """The first eligible guild after ``last``, those ``passed`` left out; None if there is none."""
    found = row("find_turn", {**wanted._asdict(), "last": last or 0, "passed": list(passed)})
    return GuildId(found.guild_id) if found else None


def prune_cursors() -> int:
    """How many rows were dropped that no claim reads any more."""
    return execute("prune_cursors", {})
