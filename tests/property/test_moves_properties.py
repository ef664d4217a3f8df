"""What holds for every queue, every wanted order and every move."""

from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guildqueue.domain.errors import PriorityExhausted
from guildqueue.domain.ids import BIGINT_MAX, SessionId
from guildqueue.domain.moves import (
    OrderedSession,
    Place,
    place_session,
    plan_move,
    priorities_for,
)
from tests.property.orders import EDGE_NUMBERS, SMALL_NUMBERS, ids, pairs, queues, written

thorough = settings(deadline=None, max_examples=200)

Move = tuple[SessionId, Place, SessionId | None]
Case = tuple[list[OrderedSession], list[Move]]


@st.composite
def wanted_orders(
    draw: st.DrawFn, *, numbers: st.SearchStrategy[int] | None = None, max_size: int = 9
) -> list[OrderedSession]:
    """A queue's sessions in any order whatever, with the keys they have now."""
    queue = draw(
        queues(max_size=max_size) if numbers is None else queues(numbers=numbers, max_size=max_size)
    )
    return draw(st.permutations(queue))


@st.composite
def moves(draw: st.DrawFn, queue: list[OrderedSession]) -> Move:
    """A well-formed move within ``queue``, which has at least two sessions."""
    moved, neighbour = draw(st.permutations(ids(queue)))[:2]
    place = draw(st.sampled_from(Place))
    return moved, place, neighbour if place in {Place.BEFORE, Place.AFTER} else None


@st.composite
def queues_and_moves(
    draw: st.DrawFn, *, n_moves: int = 1
) -> tuple[list[OrderedSession], list[Move]]:
    queue = draw(queues(min_size=2))
    return queue, [draw(moves(queue)) for _ in range(n_moves)]


def after(queue: list[OrderedSession], move: Move) -> list[OrderedSession]:
    moved, place, neighbour = move
    plan = plan_move(queue, moved=moved, place=place, neighbour=neighbour)
    return written(queue, plan.changed)


def feasible(wanted: list[OrderedSession], numbers: tuple[int, ...]) -> bool:
    """Whether ``numbers`` lower nobody and make ``wanted`` the order."""
    keys = [(number, s.key.id) for s, number in zip(wanted, numbers, strict=True)]
    is_raised = all(n >= s.key.priority for s, n in zip(wanted, numbers, strict=True))
    return is_raised and keys == sorted(keys)


def final_numbers(wanted: list[OrderedSession]) -> tuple[int, ...]:
    changed = priorities_for(wanted)
    return tuple(changed.get(s.session_id, s.key.priority) for s in wanted)


@thorough
@given(wanted=wanted_orders())
def test_sorting_by_the_new_keys_gives_the_wanted_order(wanted: list[OrderedSession]) -> None:
    assert ids(written(wanted, priorities_for(wanted))) == ids(wanted)


@thorough
@given(wanted=wanted_orders())
def test_every_number_that_is_written_is_a_raise(wanted: list[OrderedSession]) -> None:
    now = {s.session_id: s.key.priority for s in wanted}

    changed = priorities_for(wanted)

    assert all(number > now[session_id] for session_id, number in changed.items())


@thorough
@given(wanted=wanted_orders())
def test_no_untouched_session_turns_negative(wanted: list[OrderedSession]) -> None:
    changed = priorities_for(wanted)

    assert all(changed.get(s.session_id, 0) >= 0 for s in wanted if s.key.priority >= 0)


@settings(deadline=None, max_examples=100)
@given(wanted=wanted_orders(numbers=st.integers(-2, 1), max_size=4))
def test_every_other_assignment_without_lowering_is_larger(wanted: list[OrderedSession]) -> None:
    smallest = final_numbers(wanted)
    # From -2 to beyond what four sessions can be raised to from 1.
    candidates = product(range(-2, 6), repeat=len(wanted))

    others = [numbers for numbers in candidates if feasible(wanted, numbers)]

    assert smallest in others
    assert all(
        ours <= theirs for numbers in others for ours, theirs in zip(smallest, numbers, strict=True)
    )


@thorough
@given(wanted=wanted_orders())
def test_no_single_number_could_be_one_smaller(wanted: list[OrderedSession]) -> None:
    smallest = final_numbers(wanted)

    for index, number in enumerate(smallest):
        lower = (*smallest[:index], number - 1, *smallest[index + 1 :])
        assert not feasible(wanted, lower)


@thorough
@given(wanted=wanted_orders())
def test_only_sessions_that_the_one_before_overtook_are_written(
    wanted: list[OrderedSession],
) -> None:
    numbers = final_numbers(wanted)
    changed = priorities_for(wanted)

    for index, session in enumerate(wanted):
        held = index == 0 or session.key > (numbers[index - 1], wanted[index - 1].key.id)
        assert (session.session_id in changed) is not held


@thorough
@given(queue=queues(numbers=SMALL_NUMBERS | EDGE_NUMBERS))
def test_an_order_that_holds_writes_nothing(queue: list[OrderedSession]) -> None:
    assert priorities_for(queue) == {}


@thorough
@given(wanted=wanted_orders(numbers=EDGE_NUMBERS))
def test_at_the_edge_of_bigint_the_order_comes_out_or_is_refused(
    wanted: list[OrderedSession],
) -> None:
    try:
        changed = priorities_for(wanted)
    except PriorityExhausted as refused:
        # Refused is right only if the smallest numbers do not fit: so many sessions
        # stand behind one that carries a number this near to the end.
        ahead = wanted[: ids(wanted).index(refused.session_id)]
        assert max(s.key.priority for s in ahead) + len(ahead) > BIGINT_MAX
    else:
        assert ids(written(wanted, changed)) == ids(wanted)
        assert all(number <= BIGINT_MAX for number in changed.values())


@thorough
@given(case=queues_and_moves())
def test_a_move_gives_the_order_it_asked_for(
    case: Case,
) -> None:
    queue, [(moved, place, neighbour)] = case

    plan = plan_move(queue, moved=moved, place=place, neighbour=neighbour)

    assert [s for s, _ in plan.order] == place_session(ids(queue), moved, place, neighbour)
    assert plan.order == pairs(written(queue, plan.changed))


@thorough
@given(case=queues_and_moves())
def test_a_moved_session_stands_in_its_place_and_the_others_as_before(
    case: Case,
) -> None:
    queue, [(moved, place, neighbour)] = case

    order = ids(after(queue, (moved, place, neighbour)))

    match place:
        case Place.FIRST:
            assert order[0] == moved
        case Place.LAST:
            assert order[-1] == moved
        case Place.BEFORE:
            assert neighbour is not None
            assert order.index(moved) + 1 == order.index(neighbour)
        case Place.AFTER:
            assert neighbour is not None
            assert order.index(moved) - 1 == order.index(neighbour)
    assert [s for s in order if s != moved] == [s for s in ids(queue) if s != moved]


@thorough
@given(case=queues_and_moves())
def test_a_repeated_move_writes_nothing(case: Case) -> None:
    queue, [(moved, place, neighbour)] = case
    once = after(queue, (moved, place, neighbour))

    again = plan_move(once, moved=moved, place=place, neighbour=neighbour)

    assert again.changed == {}
    assert again.order == pairs(once)


@thorough
@given(case=queues_and_moves(n_moves=2))
def test_the_second_of_two_moves_is_decided_against_what_the_first_left(
    case: Case,
) -> None:
    queue, [first, second] = case

    both = after(after(queue, first), second)

    assert ids(both) == place_session(place_session(ids(queue), *first), *second)


@thorough
@given(case=queues_and_moves(n_moves=6))
def test_moves_in_any_number_never_lower_and_never_lose_a_session(
    case: Case,
) -> None:
    queue, requests = case

    for move in requests:
        left = after(queue, move)
        now = dict(pairs(left))
        assert sorted(now) == sorted(ids(queue))
        assert all(now[session_id] >= number for session_id, number in pairs(queue))
        queue = left


@thorough
@given(queue=queues(min_size=2), data=st.data())
def test_before_one_session_is_after_the_one_ahead_of_it(
    queue: list[OrderedSession], data: st.DataObject
) -> None:
    ahead, behind = data.draw(st.sampled_from(list(zip(ids(queue), ids(queue)[1:], strict=False))))
    moved = data.draw(st.sampled_from(ids(queue)))
    assume(moved not in {ahead, behind})

    assert plan_move(queue, moved=moved, place=Place.BEFORE, neighbour=behind) == plan_move(
        queue, moved=moved, place=Place.AFTER, neighbour=ahead
    )


@thorough
@given(queue=queues(min_size=2), data=st.data())
def test_first_is_before_the_head_and_last_is_after_the_tail(
    queue: list[OrderedSession], data: st.DataObject
) -> None:
    head, *_, tail = ids(queue)
    moved = data.draw(st.sampled_from(ids(queue)))

    if moved != head:
        assert plan_move(queue, moved=moved, place=Place.FIRST) == plan_move(
            queue, moved=moved, place=Place.BEFORE, neighbour=head
        )
    if moved != tail:
        assert plan_move(queue, moved=moved, place=Place.LAST) == plan_move(
            queue, moved=moved, place=Place.AFTER, neighbour=tail
        )


@thorough
@given(queue=queues(min_size=2), data=st.data())
def test_neighbours_swap_the_same_whichever_of_the_two_is_moved(
    queue: list[OrderedSession], data: st.DataObject
) -> None:
    ahead, behind = data.draw(st.sampled_from(list(zip(ids(queue), ids(queue)[1:], strict=False))))

    assert plan_move(queue, moved=ahead, place=Place.AFTER, neighbour=behind) == plan_move(
        queue, moved=behind, place=Place.BEFORE, neighbour=ahead
    )
