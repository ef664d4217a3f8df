"""A guild's order as sort keys, and the writing of new numbers."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import OrderedSession
from guildqueue.domain.order import SortKey
from guildqueue.domain.rules import MeasuredSession
from guildqueue.store.statements import rows, sole


class GuildOrder(NamedTuple):
    """Sessions with something outstanding.

    ``lane`` run next, in their order; ``queue`` follow in claim order; ``waiting`` are those
    of both of which something is pending.
    """

    lane: tuple[SessionId, ...]
    queue: tuple[OrderedSession, ...]
    waiting: frozenset[SessionId]


def read_order(guild_id: GuildId) -> GuildOrder:
    """The guild's order now; read it under the order lock to decide anything from it."""
    found = rows("read_order", {"guild_id": guild_id})
    return GuildOrder(
        lane=tuple(row.session_id for row in found if row.in_lane),
        queue=tuple(
            OrderedSession(row.session_id, SortKey(row.priority, row.first_id))
            for row in found
            if not row.in_lane
        ),
        waiting=frozenset(row.session_id for row in found if row.is_waiting),
    )


def read_measured(guild_id: GuildId, queue: Collection[OrderedSession]) -> list[MeasuredSession]:
    """``queue`` with what rules look at, in the same order."""
    measures = {row.session_id: row for row in rows("read_measures", {"guild_id": guild_id})}
    return [
        MeasuredSession(
            session_id=session.session_id,
            key=session.key,
            n_participants=measures[session.session_id].n_participants,
            audio_seconds=measures[session.session_id].audio_seconds,
        )
        for session in queue
        if session.session_id in measures
    ]


def write_priorities(
    guild_id: GuildId, priorities: Mapping[SessionId, int]
) -> frozenset[SessionId]:
    """The sessions that were written: those of which something was still outstanding."""
    found = rows(
        "write_priorities",
        {
            "guild_id": guild_id,
            "session_ids": list(priorities),
            "priorities": list(priorities.values()),
        },
    )
    return frozenset(row.session_id for row in found)


def still_outstanding(
    guild_id: GuildId, session_ids: Collection[SessionId]
) -> frozenset[SessionId]:
    """Those of the sessions that have something outstanding now."""
    found = rows("still_outstanding", {"guild_id": guild_id, "session_ids": list(session_ids)})
    return frozenset(row.session_id for row in found)


def read_last_number(guild_id: GuildId) -> int:
    """The priority that puts a new session at the end: its ids are above all others.

    0 in an untouched queue, never negative. Read it under the order lock.
    """
    return int(sole("read_last_number", {"guild_id": guild_id}).priority)


def read_session_number(guild_id: GuildId, session_id: SessionId) -> int:
    """The priority that a job added to the session takes."""
    found = sole("read_session_number", {"guild_id": guild_id, "session_id": session_id})
    return int(found.priority)
