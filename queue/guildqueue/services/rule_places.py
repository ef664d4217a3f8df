"""What a quick action would move in line, from which place to which, before anybody applies it."""

from collections.abc import Sequence
from dataclasses import dataclass

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.rules import MeasuredSession, plan_rule
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import orders, sessions

SHOW_UP_TO = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceChange:
    """A session that would stand elsewhere; places count from 1, the lane's included."""

    title: str
    participants: int
    audio_seconds: float | None
    place_before: int
    place_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlaces:
    """The first ``changes`` in the new order, how many there are in all, and who stays behind.

    ``n_movable`` sessions wait outside the lane, ``n_unmeasured`` of them of unknown length.
    ``writes_nothing`` is of the numbers, not of the places: what only runs has none of these.
    """

    changes: tuple[PlaceChange, ...]
    n_changes: int
    n_unmeasured: int
    n_movable: int
    writes_nothing: bool

    @property
    def n_more(self) -> int:
        return self.n_changes - len(self.changes)


@decided_in_transaction
def rule_places(guild_id: GuildId, *, rule: str) -> RulePlaces:
    """What ``rule`` would do to the whole line; nothing is written.

    Three reads, however long the line is. Raises InvalidInput for an unknown rule.
    """
    order = orders.read_order(guild_id)
    measured = orders.read_measured(guild_id, order.queue)
    plan = plan_rule(rule, measured)
    movable = {s.session_id: s for s in measured if s.session_id in order.waiting}
    first = sum(session_id in order.waiting for session_id in order.lane) + 1
    before = {session_id: place for place, session_id in enumerate(movable, first)}
    wanted = (session_id for session_id, _ in plan.order if session_id in movable)
    moves = [
        (movable[session_id], place)
        for place, session_id in enumerate(wanted, first)
        if before[session_id] != place
    ]
    return RulePlaces(
        changes=_changes(guild_id, moves[:SHOW_UP_TO], before),
        n_changes=len(moves),
        n_unmeasured=sum(session.audio_seconds is None for session in movable.values()),
        n_movable=len(movable),
        writes_nothing=not plan.changed,
    )


def _changes(
    guild_id: GuildId,
    moves: Sequence[tuple[MeasuredSession, int]],
    before: dict[SessionId, int],
) -> tuple[PlaceChange, ...]:
    titles = sessions.read_titles(guild_id, [session.session_id for session, _ in moves])
    return tuple(
        PlaceChange(
            title=titles[session.session_id],
            participants=session.n_participants,
            audio_seconds=session.audio_seconds,
            place_before=before[session.session_id],
            place_after=place,
        )
        for session, place in moves
        if session.session_id in titles
    )
