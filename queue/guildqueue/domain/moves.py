"""Relative moves of a guild's sessions, and the numbers that spell a wanted order."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, assert_never

from guildqueue.domain.errors import (
    InLane,
    InvalidInput,
    NeighbourLeftQueue,
    PriorityExhausted,
    SessionLeftQueue,
)
from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, SessionId
from guildqueue.domain.order import SortKey

# Sorts before every key that a bigint can hold.
BEFORE_ALL = SortKey(BIGINT_MIN - 1, 0)


class Place(StrEnum):
    """Where a move puts a session; the last two name a neighbour."""

    FIRST = "first"
    LAST = "last"
    BEFORE = "before"
    AFTER = "after"


NEXT_TO = frozenset({Place.BEFORE, Place.AFTER})


class Placed(Protocol):
    """Anything that stands for a session with a place in the order."""

    @property
    def session_id(self) -> SessionId: ...

    @property
    def key(self) -> SortKey: ...


@dataclass(frozen=True, slots=True)
class OrderedSession:
    """A session outside the lane and its sort key."""

    session_id: SessionId
    key: SortKey


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What to write, and the order that then holds.

    ``changed`` has the new number of each session that needs another one, in the new
    order; empty if the order holds already. ``order`` has every session outside the lane
    with its number, in claim order.
    """

    changed: Mapping[SessionId, int]
    order: tuple[tuple[SessionId, int], ...]


def priorities_for(wanted: Sequence[Placed]) -> dict[SessionId, int]:
    """The numbers that make ``wanted`` the order, for the sessions that need another one.

    One forward pass: a session that sorts after the one before keeps its number, any
    other is raised to the smallest number that puts it there. So nothing is ever lowered,
    no number could be smaller without lowering one, and an order that holds gives {}.

    Raises PriorityExhausted if a number would not fit a bigint.
    """
    changed: dict[SessionId, int] = {}
    before = BEFORE_ALL
    for session in wanted:
        key = session.key
        if key <= before:
            # Equal numbers fall back on the id; a number above is needed only against it.
            number = before.priority if key.id > before.id else before.priority + 1
            if number > BIGINT_MAX:
                raise PriorityExhausted(session.session_id)
            key = SortKey(number, key.id)
            changed[session.session_id] = number
        before = key
    return changed


def plan_order(wanted: Sequence[Placed]) -> MovePlan:
    """The plan that makes ``wanted`` the order; raises as priorities_for does."""
    changed = priorities_for(wanted)
    return MovePlan(changed, numbered(wanted, changed))


def numbered(
    sessions: Sequence[Placed], changed: Mapping[SessionId, int]
) -> tuple[tuple[SessionId, int], ...]:
    """Each session with the number it carries once ``changed`` is written."""
    if not changed:
        return tuple([(s.session_id, s.key.priority) for s in sessions])
    new_number = changed.get
    return tuple([(s.session_id, new_number(s.session_id, s.key.priority)) for s in sessions])


def place_session(
    order: Sequence[SessionId], moved: SessionId, place: Place, neighbour: SessionId | None
) -> list[SessionId]:
    """``order`` with ``moved`` put in its place; all others keep theirs.

    Raises ValueError if ``moved``, or the neighbour that ``place`` needs, is not in ``order``.
    """
    placed = list(order)
    placed.remove(moved)
    match place:
        case Place.FIRST:
            index = 0
        case Place.LAST:
            index = len(placed)
        case Place.BEFORE | Place.AFTER:
            if neighbour is None:
                raise ValueError(f"{place} needs a neighbour")
            index = placed.index(neighbour) + (place is Place.AFTER)
        case _:
            assert_never(place)
    placed.insert(index, moved)
    return placed


def plan_move(
    queue: Sequence[OrderedSession],
    *,
    moved: SessionId,
    place: Place,
    neighbour: SessionId | None = None,
    in_lane: Collection[SessionId] = (),
) -> MovePlan:
    """What to write so that ``moved`` stands where it should; O(n).

    ``queue`` has the guild's sessions outside the lane, each once, in claim order;
    ``in_lane`` the others that are outstanding.

    Raises InvalidInput for a neighbour that is missing, not wanted or ``moved`` itself,
    InLane, SessionLeftQueue or NeighbourLeftQueue with the order as it is, and
    PriorityExhausted.
    """
    check_neighbour(place, moved=moved, neighbour=neighbour)
    sessions = {session.session_id: session for session in queue}
    check_present(queue, sessions, moved=moved, neighbour=neighbour, in_lane=in_lane)
    wanted = place_session(list(sessions), moved, place, neighbour)
    return plan_order([sessions[session_id] for session_id in wanted])


def check_present(
    queue: Sequence[OrderedSession],
    sessions: Collection[SessionId],
    *,
    moved: SessionId,
    neighbour: SessionId | None,
    in_lane: Collection[SessionId],
) -> None:
    """Raises InLane, SessionLeftQueue or NeighbourLeftQueue, the moved session judged first."""
    for session_id, absence in ((moved, SessionLeftQueue), (neighbour, NeighbourLeftQueue)):
        if session_id is None or session_id in sessions:
            continue
        refusal = InLane if session_id in in_lane else absence
        raise refusal(session_id, numbered(queue, {}))


def check_move(
    place: object, *, moved: SessionId, neighbour: object = None
) -> tuple[Place, SessionId | None]:
    """The words of a request as values, whatever front end they came through.

    ``neighbour`` is an id as text or number; None and "" mean that none was named.

    Raises InvalidInput for an unknown place, an id that no bigint holds, and a neighbour
    that is missing, not wanted or ``moved`` itself.
    """
    known_place = parse_place(place)
    session_id = None if neighbour is None or neighbour == "" else parse_neighbour(neighbour)
    check_neighbour(known_place, moved=moved, neighbour=session_id)
    return known_place, session_id


def parse_place(word: object) -> Place:
    """The place that ``word`` spells; raises InvalidInput listing the known ones."""
    for place in Place:
        if place == word:
            return place
    raise InvalidInput("place", word, tuple(Place))


def parse_neighbour(value: object) -> SessionId:
    """A neighbour's id from decimal digits or an int; raises InvalidInput otherwise."""
    # int() alone would also take signs, blanks, underscores and other scripts' digits,
    # and refuses 5,000 of them with an error of its own.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= BIGINT_MAX:
        return SessionId(value)
    raise InvalidInput("session", value, f"decimal digits, at most {BIGINT_MAX}")


def check_neighbour(place: Place, *, moved: SessionId, neighbour: SessionId | None) -> None:
    """Raises InvalidInput unless a neighbour is named exactly where ``place`` needs one."""
    if place in NEXT_TO and neighbour is None:
        raise InvalidInput("session", None, f"the id of the session to move {place}")
    if place not in NEXT_TO and neighbour is not None:
        raise InvalidInput("session", neighbour, f"none, as {place} needs no neighbour")
    if neighbour == moved:
        raise InvalidInput("session", neighbour, "another session than the moved one")
