"""Move a session: one relative reorder, decided against the queue as it is."""

from dataclasses import dataclass, replace

from guildqueue.domain.errors import NeighbourLeftQueue, SessionLeftQueue
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.ledger import EventType
from guildqueue.domain.moves import MovePlan, Place, plan_move
from guildqueue.domain.order import place_in_line
from guildqueue.domain.principal import Caller
from guildqueue.services.record import record_change
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import locks, orders, sessions
from guildqueue.store.orders import GuildOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveOutcome:
    """What a move or rule wrote, and the order that holds now.

    ``changed`` has the sessions whose number was written, none for "nothing to do";
    ``order`` has ``(session, priority)`` for every session outside the lane. ``place_before`` and
    ``place_after`` are the moved session's place in line among ``n_waiting``, None for a rule or
    where nothing of the session waits.
    """

    changed: tuple[SessionId, ...]
    order: tuple[tuple[SessionId, int], ...]
    place_before: int | None = None
    place_after: int | None = None
    n_waiting: int = 0


@decided_in_transaction
def move_session(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    place: Place,
    neighbour: SessionId | None = None,
    caller: Caller,
) -> MoveOutcome:
    """The session put in its place; nothing is written for an order that already holds.

    Locks: the guild's order, then only the rows it writes. Raises InvalidInput,
    SessionLeftQueue, NeighbourLeftQueue, InLane, PriorityExhausted or QueueBusy.
    """
    locks.lock_order(guild_id)
    order = orders.read_order(guild_id)
    plan = plan_move(
        order.queue, moved=session_id, place=place, neighbour=neighbour, in_lane=order.lane
    )
    outcome = _outcome(session_id, order, plan)
    if plan.changed:
        written = orders.write_priorities(guild_id, plan.changed)
        _refuse_what_left(guild_id, session_id, neighbour, order)
        outcome = replace(outcome, changed=tuple(s for s in plan.changed if s in written))
    if outcome.changed:
        sessions.mark_moved(guild_id, [session_id], by=str(caller.principal), place=place)
        _record(guild_id, session_id, place, neighbour, outcome, caller)
    return outcome


def _outcome(session_id: SessionId, order: GuildOrder, plan: MovePlan) -> MoveOutcome:
    before = [*order.lane, *(session.session_id for session in order.queue)]
    after = [*order.lane, *(moved for moved, _ in plan.order)]
    return MoveOutcome(
        changed=tuple(plan.changed),
        order=plan.order,
        place_before=place_in_line(session_id, before, order.waiting),
        place_after=place_in_line(session_id, after, order.waiting),
        n_waiting=len(order.waiting),
    )


def _refuse_what_left(
    guild_id: GuildId, session_id: SessionId, neighbour: SessionId | None, before: GuildOrder
) -> None:
    """Raise for a session that ended between the reading and the locking of its rows."""
    named = [session_id] if neighbour is None else [session_id, neighbour]
    left = set(named) - orders.still_outstanding(guild_id, named)
    if not left:
        return
    # The numbers from before the plan, which the refusal rolls back.
    order = [(s.session_id, s.key.priority) for s in before.queue if s.session_id not in left]
    if neighbour is not None and neighbour in left and session_id not in left:
        raise NeighbourLeftQueue(neighbour, order)
    raise SessionLeftQueue(session_id, order)


def _record(
    guild_id: GuildId,
    session_id: SessionId,
    place: Place,
    neighbour: SessionId | None,
    outcome: MoveOutcome,
    caller: Caller,
) -> None:
    named = [session_id] if neighbour is None else [session_id, neighbour]
    titles = sessions.read_titles(guild_id, named)
    record_change(
        guild_id,
        EventType.SESSION_MOVED,
        caller=caller,
        changed={
            "session_id": str(session_id),
            "title": titles[session_id],
            "place": place.value,
            "neighbour_id": None if neighbour is None else str(neighbour),
            "neighbour_title": None if neighbour is None else titles[neighbour],
            "from": outcome.place_before,
            "to": outcome.place_after,
            "of": outcome.n_waiting,
            "sessions": [str(changed) for changed in outcome.changed],
        },
    )
