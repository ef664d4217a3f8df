"""Where each guild's line begins, and how many of its jobs run; upkeep of the rows that say so."""

from guildqueue.domain.ids import GuildId
from guildqueue.store.statements import execute, rows


def read_unraised(n_steps: int) -> list[GuildId]:
    """The guilds in which so many jobs began or ended since their newest mark."""
    return [GuildId(found.guild_id) for found in rows("read_unraised", {"n_steps": n_steps})]


def raise_mark(guild_id: GuildId) -> None:
    """Put the guild's mark where its line begins now, if nobody else is at it."""
    rows("raise_mark", {"guild_id": guild_id})


def prune_marks() -> int:
    """How many rows were dropped that no claim reads any more, at most 10,000 of each kind."""
    return execute("prune_steps", {}) + execute("prune_marks", {})
