"""Turns: which guild a claim draws from next, cyclic by ascending id."""

from bisect import bisect_right
from collections.abc import Sequence

from guildqueue.domain.ids import GuildId


def turn_order(last: GuildId | None, eligible: Sequence[GuildId]) -> list[GuildId]:
    """The eligible guilds in the order of their turns.

    ``eligible`` is ascending, each guild once. The turn goes to the first guild above ``last``,
    which itself comes at the very end; ``last`` need not be eligible any more. None means
    that nobody had a turn yet.
    """
    start = 0 if last is None else bisect_right(eligible, last)
    return [*eligible[start:], *eligible[:start]]


def next_guild(last: GuildId | None, eligible: Sequence[GuildId]) -> GuildId | None:
    """The guild whose turn it is; None if none is eligible."""
    order = turn_order(last, eligible)
    return order[0] if order else None
