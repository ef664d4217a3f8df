"""Quick actions rank a queue and keep ties where they were."""

import pytest

from guildqueue.domain.errors import InvalidInput, PriorityExhausted
from guildqueue.domain.ids import BIGINT_MAX, SessionId
from guildqueue.domain.order import SortKey
from guildqueue.domain.rules import KNOWN_RULES, MeasuredSession, plan_rule


def measured(
    session_id: int,
    *,
    priority: int = 0,
    first_job: int | None = None,
    n_participants: int = 2,
    audio_seconds: float | None = None,
) -> MeasuredSession:
    """A session whose first job has ten times its id unless said otherwise."""
    key = SortKey(priority, session_id * 10 if first_job is None else first_job)
    return MeasuredSession(SessionId(session_id), key, n_participants, audio_seconds)


def ranked(rule: str, *queue: MeasuredSession) -> list[int]:
    return [session_id for session_id, _ in plan_rule(rule, queue).order]


def test_the_rules_are_these() -> None:
    assert list(KNOWN_RULES) == ["many-participants-first", "short-recordings-first"]


def test_many_participants_come_first_and_equals_keep_their_order() -> None:
    order = ranked(
        "many-participants-first",
        measured(1, n_participants=2),
        measured(2, n_participants=8),
        measured(3, n_participants=2),
        measured(4, n_participants=8),
        measured(5, n_participants=0),
    )

    assert order == [2, 4, 1, 3, 5]


def test_short_recordings_come_first_and_equals_keep_their_order() -> None:
    order = ranked(
        "short-recordings-first",
        measured(1, audio_seconds=60.0),
        measured(2, audio_seconds=59.5),
        measured(3, audio_seconds=60.0),
    )

    assert order == [2, 1, 3]


def test_a_recording_of_unknown_length_is_not_the_shortest() -> None:
    order = ranked(
        "short-recordings-first",
        measured(1, audio_seconds=None),
        measured(2, audio_seconds=7_200.0),
        measured(3, audio_seconds=None),
        measured(4, audio_seconds=0.0),
    )

    assert order == [4, 2, 1, 3]


def test_a_length_that_is_no_number_counts_as_unknown() -> None:
    order = ranked(
        "short-recordings-first",
        measured(1, audio_seconds=float("nan")),
        measured(2, audio_seconds=30.0),
        measured(3, audio_seconds=None),
        measured(4, audio_seconds=20.0),
    )

    assert order == [4, 2, 1, 3]


def test_a_rule_raises_only_what_was_overtaken() -> None:
    plan = plan_rule(
        "many-participants-first",
        [measured(1), measured(2, n_participants=8), measured(3, priority=5)],
    )

    assert plan.changed == {1: 1}
    assert plan.order == ((2, 0), (1, 1), (3, 5))


def test_a_rule_that_holds_already_writes_nothing() -> None:
    queue = [measured(1, n_participants=8), measured(2)]

    plan = plan_rule("many-participants-first", queue)

    assert plan.changed == {}
    assert plan.order == ((1, 0), (2, 0))


@pytest.mark.parametrize("rule", KNOWN_RULES)
def test_an_empty_queue_needs_nothing(rule: str) -> None:
    plan = plan_rule(rule, [])

    assert (plan.changed, plan.order) == ({}, ())


@pytest.mark.parametrize(
    "rule", ["", "short", "Many-Participants-First", "many-participants-first ", "\ud800"]
)
def test_an_unknown_rule_is_refused_with_the_known_ones(rule: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        plan_rule(rule, [measured(1)])

    assert (refused.value.field, refused.value.value) == ("rule", rule)
    assert all(known in str(refused.value) for known in KNOWN_RULES)


def test_a_rule_that_needs_a_number_beyond_bigint_names_the_session() -> None:
    queue = [measured(1, priority=BIGINT_MAX), measured(2, priority=BIGINT_MAX, n_participants=8)]

    with pytest.raises(PriorityExhausted) as refused:
        plan_rule("many-participants-first", queue)

    assert refused.value.session_id == 1
