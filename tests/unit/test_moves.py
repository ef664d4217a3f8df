"""Moves as plans: what is written, what comes out, what is refused."""

import pytest

from guildqueue.domain.errors import (
    InLane,
    InvalidInput,
    NeighbourLeftQueue,
    PriorityExhausted,
    SessionLeftQueue,
)
from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, SessionId
from guildqueue.domain.moves import (
    OrderedSession,
    Place,
    check_move,
    place_session,
    plan_move,
    priorities_for,
)
from guildqueue.domain.order import SortKey

A, B, C, D = (SessionId(number) for number in (1, 2, 3, 4))
GONE = SessionId(99)


def session(session_id: SessionId, priority: int, first_job: int) -> OrderedSession:
    return OrderedSession(session_id, SortKey(priority, first_job))


UNTOUCHED = [session(A, 0, 10), session(B, 0, 20), session(C, 0, 30), session(D, 0, 40)]


@pytest.mark.parametrize(
    ("place", "neighbour", "wanted"),
    [
        (Place.FIRST, None, [C, A, B, D]),
        (Place.LAST, None, [A, B, D, C]),
        (Place.BEFORE, A, [C, A, B, D]),
        (Place.BEFORE, B, [A, C, B, D]),
        (Place.BEFORE, D, [A, B, C, D]),
        (Place.AFTER, A, [A, C, B, D]),
        (Place.AFTER, B, [A, B, C, D]),
        (Place.AFTER, D, [A, B, D, C]),
    ],
)
def test_a_session_goes_where_it_was_put(
    place: Place, neighbour: SessionId | None, wanted: list[SessionId]
) -> None:
    assert place_session([A, B, C, D], C, place, neighbour) == wanted


def test_placing_needs_the_session_and_the_neighbour_in_the_order() -> None:
    with pytest.raises(ValueError, match="not in list"):
        place_session([A, B], GONE, Place.FIRST, None)
    with pytest.raises(ValueError, match="not in list"):
        place_session([A, B], A, Place.AFTER, GONE)
    with pytest.raises(ValueError, match="needs a neighbour"):
        place_session([A, B], A, Place.AFTER, None)


def test_going_first_is_everything_that_was_ahead_going_second() -> None:
    plan = plan_move(UNTOUCHED, moved=C, place=Place.FIRST)

    assert plan.changed == {A: 1, B: 1, D: 1}
    assert plan.order == ((C, 0), (A, 1), (B, 1), (D, 1))


def test_going_last_raises_the_moved_session_alone() -> None:
    plan = plan_move(UNTOUCHED, moved=B, place=Place.LAST)

    assert plan.changed == {B: 1}
    assert plan.order == ((A, 0), (C, 0), (D, 0), (B, 1))


def test_a_gap_in_the_numbers_ends_the_raising() -> None:
    queue = [session(A, 0, 10), session(B, 0, 20), session(C, 7, 30), session(D, 7, 40)]

    plan = plan_move(queue, moved=B, place=Place.FIRST)

    assert plan.changed == {A: 1}
    assert plan.order == ((B, 0), (A, 1), (C, 7), (D, 7))


def test_an_id_that_falls_right_shares_the_number_of_the_one_before() -> None:
    queue = [session(A, 0, 40), session(B, 3, 10)]

    assert priorities_for(queue[::-1]) == {A: 3}


def test_an_id_that_falls_wrong_takes_one_more() -> None:
    queue = [session(A, 0, 10), session(B, 3, 40)]

    assert priorities_for(queue[::-1]) == {A: 4}


def test_a_negative_number_is_kept_where_it_holds() -> None:
    queue = [session(A, -9, 10), session(B, -9, 20), session(C, 0, 30)]

    plan = plan_move(queue, moved=C, place=Place.AFTER, neighbour=A)

    assert plan.changed == {B: 1}
    assert plan.order == ((A, -9), (C, 0), (B, 1))


def test_an_overtaken_negative_number_is_raised_and_not_clamped_to_zero() -> None:
    queue = [session(A, -9, 10), session(B, -5, 20), session(C, -4, 5)]

    plan = plan_move(queue, moved=A, place=Place.AFTER, neighbour=B)

    assert plan.changed == {A: -4, C: -3}
    assert plan.order == ((B, -5), (A, -4), (C, -3))


def test_a_session_that_goes_before_a_negative_one_keeps_its_own_number() -> None:
    queue = [session(A, -9, 10), session(B, 0, 20)]

    plan = plan_move(queue, moved=B, place=Place.FIRST)

    assert plan.changed == {A: 1}
    assert plan.order == ((B, 0), (A, 1))


@pytest.mark.parametrize(
    ("moved", "place", "neighbour"),
    [
        (A, Place.FIRST, None),
        (D, Place.LAST, None),
        (B, Place.AFTER, A),
        (B, Place.BEFORE, C),
    ],
)
def test_a_move_to_its_own_place_writes_nothing(
    moved: SessionId, place: Place, neighbour: SessionId | None
) -> None:
    plan = plan_move(UNTOUCHED, moved=moved, place=place, neighbour=neighbour)

    assert plan.changed == {}
    assert plan.order == ((A, 0), (B, 0), (C, 0), (D, 0))


def test_a_session_that_is_alone_may_go_first_and_last() -> None:
    alone = [session(A, -3, 10)]

    for place in (Place.FIRST, Place.LAST):
        assert plan_move(alone, moved=A, place=place).changed == {}


def test_the_whole_of_bigint_is_usable() -> None:
    queue = [session(A, BIGINT_MIN, 20), session(B, BIGINT_MAX - 1, 10)]

    plan = plan_move(queue, moved=A, place=Place.LAST)
    assert plan.order == ((B, BIGINT_MAX - 1), (A, BIGINT_MAX - 1))

    plan = plan_move([session(A, BIGINT_MIN, 5), queue[1]], moved=A, place=Place.LAST)
    assert plan.order == ((B, BIGINT_MAX - 1), (A, BIGINT_MAX))


def test_a_number_beyond_bigint_is_refused_naming_the_session() -> None:
    queue = [session(A, 0, 10), session(B, BIGINT_MAX, 20)]

    with pytest.raises(PriorityExhausted) as refused:
        plan_move(queue, moved=A, place=Place.LAST)

    assert refused.value.session_id == A


def test_a_session_that_left_is_refused_with_the_order_as_it_is() -> None:
    with pytest.raises(SessionLeftQueue) as refused:
        plan_move(UNTOUCHED[:2], moved=GONE, place=Place.BEFORE, neighbour=SessionId(98))

    assert refused.value.session_id == GONE
    assert refused.value.order == ((A, 0), (B, 0))


def test_a_neighbour_that_left_is_refused_with_the_order_as_it_is() -> None:
    with pytest.raises(NeighbourLeftQueue) as refused:
        plan_move(UNTOUCHED[:2], moved=A, place=Place.AFTER, neighbour=GONE)

    assert refused.value.session_id == GONE
    assert refused.value.order == ((A, 0), (B, 0))


@pytest.mark.parametrize(("moved", "neighbour"), [(D, A), (A, D), (D, GONE)])
def test_a_session_in_the_lane_is_neither_moved_nor_a_neighbour(
    moved: SessionId, neighbour: SessionId
) -> None:
    with pytest.raises(InLane) as refused:
        plan_move(UNTOUCHED[:2], moved=moved, place=Place.BEFORE, neighbour=neighbour, in_lane={D})

    assert refused.value.session_id == D
    assert refused.value.order == ((A, 0), (B, 0))


@pytest.mark.parametrize(
    ("place", "neighbour"),
    [
        (Place.BEFORE, None),
        (Place.AFTER, None),
        (Place.FIRST, B),
        (Place.LAST, B),
        (Place.BEFORE, A),
        (Place.AFTER, A),
        (Place.FIRST, A),
    ],
)
def test_a_malformed_move_is_refused_before_the_queue_is_looked_at(
    place: Place, neighbour: SessionId | None
) -> None:
    with pytest.raises(InvalidInput) as from_plan:
        plan_move([], moved=A, place=place, neighbour=neighbour)
    with pytest.raises(InvalidInput) as from_words:
        check_move(place.value, moved=A, neighbour=neighbour)

    assert from_plan.value.field == "session"
    assert str(from_plan.value) == str(from_words.value)


@pytest.mark.parametrize("word", ["", "First", "first ", "up", "3", "\x00", "\ud800", None, 1, []])
def test_an_unknown_place_is_refused_with_the_known_ones(word: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_move(word, moved=A)

    assert refused.value.field == "place"
    assert refused.value.allowed == "first, last, before, after"


@pytest.mark.parametrize("neighbour", ["2", 2, "0002"])
def test_the_words_of_a_request_become_values(neighbour: str | int) -> None:
    assert check_move("before", moved=A, neighbour=neighbour) == (Place.BEFORE, B)


@pytest.mark.parametrize("nobody", [None, ""])
def test_an_empty_neighbour_is_none(nobody: str | None) -> None:
    assert check_move("first", moved=A, neighbour=nobody) == (Place.FIRST, None)


def test_the_largest_id_of_a_bigint_is_an_id() -> None:
    assert check_move("after", moved=A, neighbour=str(BIGINT_MAX)) == (Place.AFTER, BIGINT_MAX)


@pytest.mark.parametrize(
    "neighbour",
    [
        "-1", -1, "+2", " 2", "2\n", "2_0", "2.0", 2.0, True, "two", "\u0662", "\u00b2", "\x00",
        "\ud800", str(BIGINT_MAX + 1), BIGINT_MAX + 1, "9" * 30, "9" * 5_000, ["2"], {"id": "2"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["before", "first"])
def test_a_neighbour_that_no_bigint_holds_is_refused(place: str, neighbour: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_move(place, moved=A, neighbour=neighbour)

    assert refused.value.field == "session"
    assert len(str(refused.value)) < 300
