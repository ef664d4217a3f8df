"""The lane's contract, items 4 and 5: who may, and what is on record of it."""

import pytest

from tests.conformance.protocol import (
    GRANTED,
    REFUSED,
    LaneUnderTest,
    Recorded,
    Who,
    lane_of,
    named_of,
)


@pytest.fixture
def with_jobs(lane: LaneUnderTest) -> LaneUnderTest:
    """Jobs ``x`` and ``d``, and ``a`` that needs ``d``; nothing of it bumped."""
    lane.push("x")
    lane.push("d")
    lane.push("a", needs=["d"])
    return lane


@pytest.mark.parametrize("who", GRANTED)
def test_item_4_the_operator_and_a_declared_source_may(with_jobs: LaneUnderTest, who: Who) -> None:
    assert with_jobs.bump("a", who=who).accepted
    assert with_jobs.unbump("a", who=who).accepted

    kinds = {record.by for record in with_jobs.records()}
    assert kinds == {"operator" if who is Who.OPERATOR else "source"}


@pytest.mark.parametrize("who", REFUSED)
def test_item_4_nobody_else_may(with_jobs: LaneUnderTest, who: Who) -> None:
    with_jobs.bump("x")
    before = with_jobs.jobs()

    answers = [with_jobs.bump("a", who=who), with_jobs.unbump("x", who=who)]

    assert [answer.refusal for answer in answers] == ["not-granted", "not-granted"]
    assert with_jobs.jobs() == before


@pytest.mark.parametrize("who", REFUSED)
def test_item_4_a_stranger_learns_nothing_of_the_job(with_jobs: LaneUnderTest, who: Who) -> None:
    with_jobs.settle("x", "done")

    answers = [with_jobs.bump(name, who=who) for name in ("a", "x", "nothing-like-it")]

    assert len(set(answers)) == 1
    told = {(r.type, r.by, r.refusal, r.note, r.untrusted) for r in with_jobs.records()}
    assert len(told) == 1


def test_item_4_without_a_declaration_only_the_operator_may(with_jobs: LaneUnderTest) -> None:
    with_jobs.declare(None)

    assert with_jobs.bump("a", who=Who.SOURCE).refusal == "not-granted"
    assert with_jobs.bump("a").accepted


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[priority\n", id="cut-short"),
        pytest.param(b"\xff\xfe\x00\x01", id="binary"),
        pytest.param(b'[priority]\nsources = "nightly-import"\n', id="no-list"),
        pytest.param(b'[priority]\nsources = ["operator"]\n', id="reserved"),
    ],
)
def test_item_4_a_malformed_declaration_refuses_everybody_on_the_record(
    with_jobs: LaneUnderTest, content: bytes
) -> None:
    with_jobs.declare(content)

    answers = [with_jobs.bump("a", who=who) for who in Who]

    assert {answer.refusal for answer in answers} == {"not-granted"}
    assert [record.type for record in with_jobs.records()] == ["PriorityRefused"] * len(Who)


def test_item_5_a_bump_is_recorded_with_who_why_and_what_moved(with_jobs: LaneUnderTest) -> None:
    with_jobs.bump("a", reason="the board meets at noon")

    [record] = with_jobs.records()
    assert record == Recorded(
        type="PriorityBumped",
        by="operator",
        job="a",
        reason="the board meets at noon",
        moved=("d", "a"),
    )


def test_item_5_an_unbump_is_recorded_with_what_it_removed(with_jobs: LaneUnderTest) -> None:
    with_jobs.bump("a")

    with_jobs.unbump("a", who=Who.SOURCE, reason="moved to Friday")

    record = with_jobs.records()[-1]
    assert record == Recorded(
        type="PriorityUnbumped",
        by="source",
        job="a",
        reason="moved to Friday",
        removed=("d", "a"),
    )


def test_item_5_every_request_leaves_one_record(with_jobs: LaneUnderTest) -> None:
    with_jobs.bump("a")
    with_jobs.bump("a")
    with_jobs.unbump("d")
    with_jobs.unbump("x")
    with_jobs.bump("no-such-job")
    with_jobs.unbump("no-such-job")
    with_jobs.bump("x", who=Who.STRANGER)
    with_jobs.push("new", bump=True, who=Who.UNDECLARED)
    with_jobs.push("new", bump=True)

    assert [(record.type, record.refusal) for record in with_jobs.records()] == [
        ("PriorityBumped", None),
        ("PriorityBumped", None),
        ("PriorityRefused", "still-needed"),
        ("PriorityUnbumped", None),
        ("PriorityRefused", "no-such-job"),
        ("PriorityRefused", "no-such-job"),
        ("PriorityRefused", "not-granted"),
        ("PriorityRefused", "not-granted"),
        ("PriorityBumped", None),
    ]


@pytest.mark.parametrize(("who", "untrusted"), [(Who.OPERATOR, False), (Who.STRANGER, True)])
def test_item_5_what_a_caller_without_the_grant_sent_is_marked(
    with_jobs: LaneUnderTest, who: Who, untrusted: bool
) -> None:
    with_jobs.bump("no-such-job", who=who)

    assert with_jobs.records()[0].untrusted is untrusted


def test_item_5_secrets_in_a_reason_are_not_written_down(with_jobs: LaneUnderTest) -> None:
    with_jobs.bump("a", reason="see postgres://ada:hunter2@db/queue")

    assert "hunter2" not in with_jobs.records()[0].reason


def test_item_5_the_queue_is_shown_as_it_will_run_with_its_lane_marked(
    with_jobs: LaneUnderTest,
) -> None:
    with_jobs.bump("a")

    assert with_jobs.order() == ["d", "a", "x"]
    assert lane_of(with_jobs) == ["d", "a"]
    assert named_of(with_jobs) == {"a"}
