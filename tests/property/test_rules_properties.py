"""What holds for every rule and every queue."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guildqueue.domain.moves import MovePlan, OrderedSession, Place, plan_move
from guildqueue.domain.rules import KNOWN_RULES, MeasuredSession, plan_rule
from tests.property.orders import ids, pairs, queues, written

thorough = settings(deadline=None, max_examples=120)
every_rule = pytest.mark.parametrize("rule", KNOWN_RULES)

SECONDS = st.sampled_from([None, 0.0, 0.5, 60.0]) | st.floats(0, 1e9)


@st.composite
def measured_queues(draw: st.DrawFn, *, min_size: int = 0) -> list[MeasuredSession]:
    """A guild's sessions in claim order, with few participants so that ties are common."""
    return [
        MeasuredSession(s.session_id, s.key, draw(st.integers(0, 3)), draw(SECONDS))
        for s in draw(queues(min_size=min_size))
    ]


def plain(queue: list[MeasuredSession]) -> list[OrderedSession]:
    return [OrderedSession(s.session_id, s.key) for s in queue]


def rewritten(queue: list[MeasuredSession], plan: MovePlan) -> list[MeasuredSession]:
    """The queue, measures and all, as the database would list it once the plan is written."""
    measures = {s.session_id: s for s in queue}
    return [replace(measures[s.session_id], key=s.key) for s in written(plain(queue), plan.changed)]


def after(rule: str, queue: list[MeasuredSession]) -> list[MeasuredSession]:
    return rewritten(queue, plan_rule(rule, queue))


@every_rule
@thorough
@given(queue=measured_queues())
def test_the_order_a_rule_promises_is_the_one_that_its_numbers_give(
    rule: str, queue: list[MeasuredSession]
) -> None:
    assert plan_rule(rule, queue).order == pairs(after(rule, queue))


@every_rule
@thorough
@given(queue=measured_queues())
def test_a_rule_only_ever_raises(rule: str, queue: list[MeasuredSession]) -> None:
    now = dict(pairs(queue))

    changed = plan_rule(rule, queue).changed

    assert all(number > now[session_id] for session_id, number in changed.items())


@every_rule
@thorough
@given(queue=measured_queues())
def test_a_rule_followed_by_itself_writes_nothing(rule: str, queue: list[MeasuredSession]) -> None:
    once = after(rule, queue)

    again = plan_rule(rule, once)

    assert again.changed == {}
    assert again.order == pairs(once)


@thorough
@given(queue=measured_queues())
def test_more_participants_come_first_and_ties_keep_their_order(
    queue: list[MeasuredSession],
) -> None:
    place = {session_id: index for index, session_id in enumerate(ids(queue))}

    ranked = after("many-participants-first", queue)

    for ahead, behind in pairwise(ranked):
        assert ahead.n_participants >= behind.n_participants
        if ahead.n_participants == behind.n_participants:
            assert place[ahead.session_id] < place[behind.session_id]


@thorough
@given(queue=measured_queues())
def test_shorter_recordings_come_first_and_ties_keep_their_order(
    queue: list[MeasuredSession],
) -> None:
    place = {session_id: index for index, session_id in enumerate(ids(queue))}

    ranked = [s for s in after("short-recordings-first", queue) if s.audio_seconds is not None]

    for ahead, behind in pairwise(ranked):
        assert ahead.audio_seconds is not None
        assert behind.audio_seconds is not None
        assert ahead.audio_seconds <= behind.audio_seconds
        if ahead.audio_seconds == behind.audio_seconds:
            assert place[ahead.session_id] < place[behind.session_id]


@thorough
@given(queue=measured_queues())
def test_unmeasured_recordings_follow_all_measured_ones_in_the_order_they_had(
    queue: list[MeasuredSession],
) -> None:
    unmeasured = [s.session_id for s in queue if s.audio_seconds is None]

    order = ids(after("short-recordings-first", queue))

    assert order[len(order) - len(unmeasured) :] == unmeasured


@every_rule
@thorough
@given(queue=measured_queues(min_size=1), data=st.data())
def test_a_rule_after_a_move_undoes_the_move_but_for_ties(
    rule: str, queue: list[MeasuredSession], data: st.DataObject
) -> None:
    rank = KNOWN_RULES[rule]
    ranked = after(rule, queue)
    moved = data.draw(st.sampled_from(ids(ranked)))
    jumped = rewritten(ranked, plan_move(plain(ranked), moved=moved, place=Place.FIRST))

    again = after(rule, jumped)

    assert [rank(s) for s in again] == [rank(s) for s in ranked]
