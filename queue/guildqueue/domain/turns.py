"""Turns: which guild a claim draws from next, cyclic by ascending id."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from guildqueue.domain.ids import GuildId, JobId


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


class InLine(NamedTuple):
    """A claimable job. One that lost its lease (``is_lost``) needs no free slot."""

    job_id: JobId
    guild_id: GuildId
    is_lost: bool


class Slots:
    """How many more jobs each guild may start, counted down as they are taken."""

    def __init__(self, free: Mapping[GuildId, int | None]) -> None:
        """``free`` has None, or nothing, for a guild without a cap."""
        self._free = dict(free)

    def take(self, job: InLine) -> bool:
        """Whether the job may be taken now; it then is."""
        free = self._free.get(job.guild_id)
        if job.is_lost or free is None:
            return True
        if free <= 0:
            return False
        self._free[job.guild_id] = free - 1
        return True


def claims_in_order(line: Iterable[InLine], slots: Slots) -> Iterator[InLine]:
    """What claims take from one line, in its order, as far as slots go.

    Slots only ever get fewer here, so that what was passed over once is never taken later.
    """
    return (job for job in line if slots.take(job))


def claims_in_turns(
    lines: Mapping[GuildId, Iterable[InLine]], slots: Slots, *, last: GuildId | None
) -> Iterator[InLine]:
    """What claims take from the guilds' lines in turns after ``last``, as far as slots go."""
    turns = deque(claims_in_order(lines[g], slots) for g in turn_order(last, sorted(lines)))
    while turns:
        taken = next(turns[0], None)
        if taken is None:
            turns.popleft()
        else:
            yield taken
            turns.rotate(-1)
