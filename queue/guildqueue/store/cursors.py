"""Whose turn it is: the guild that had the last one, by principal and filter scope."""

from guildqueue.domain.ids import GuildId
from guildqueue.store.statements import execute, row


def read_cursor(principal: str, filter_hash: str) -> GuildId | None:
    """The guild of the last turn; None before the first."""
    found = row("read_cursor", {"principal": principal, "filter_hash": filter_hash})
    return GuildId(found.guild_id) if found else None


def prune_cursors() -> int:
    """How many rows were dropped that no claim reads any more."""
    return execute("prune_cursors", {})
