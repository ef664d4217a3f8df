"""The lane's contract, items 6 and 7: reversible by derivation, and enqueued ahead at once."""

import pytest

from tests.conformance.protocol import REFUSED, LaneUnderTest, Who, lane_of, named_of
from tests.conformance.test_order_and_dependencies import pushed


def test_item_6_the_last_unbump_leaves_no_orphan(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "d", "a: d", "b: d")
    lane.bump("a")
    lane.bump("b")

    assert lane.unbump("a").removed == ("a",)
    assert lane.unbump("b").removed == ("d", "b")
    assert lane_of(lane) == []
    assert lane.order() == ["x", "d", "a", "b"]


def test_item_6_the_lane_is_in_the_order_of_first_entry(lane: LaneUnderTest) -> None:
    pushed(lane, "d", "a: d", "b: d", "c")
    for name in ("a", "c", "b"):
        lane.bump(name)

    lane.unbump("a")

    assert lane_of(lane) == ["d", "c", "b"]


def test_item_6_who_comes_back_enters_anew(lane: LaneUnderTest) -> None:
    pushed(lane, "a", "b")
    lane.bump("a")
    lane.bump("b")

    lane.unbump("a")
    lane.bump("a")

    assert lane_of(lane) == ["b", "a"]


def test_item_6_an_unbump_is_refused_while_a_named_job_needs_the_target(
    lane: LaneUnderTest,
) -> None:
    pushed(lane, "d", "m: d", "a: m", "b: d")
    for name in ("d", "a", "b"):
        lane.bump(name)
    before = lane.jobs()

    answer = lane.unbump("d")

    assert answer.refusal == "still-needed"
    assert "a, b" in answer.note
    assert lane.jobs() == before


@pytest.mark.parametrize("state", ["done", "dead", "cancelled"])
def test_item_6_an_unbump_of_what_has_ended_is_refused(lane: LaneUnderTest, state: str) -> None:
    pushed(lane, "a")
    lane.bump("a")
    lane.settle("a", state)

    assert lane.unbump("a").refusal == "finished"


@pytest.mark.parametrize("state", ["done", "dead", "cancelled"])
def test_item_6_what_ends_leaves_the_lane_at_once(lane: LaneUnderTest, state: str) -> None:
    pushed(lane, "a", "b")
    lane.bump("a")
    lane.bump("b")

    lane.settle("a", state)

    assert lane_of(lane) == ["b"]
    assert named_of(lane) == {"b"}


@pytest.mark.parametrize("verb", ["bump", "unbump", "push"])
def test_item_6_the_next_admitted_request_sweeps_orphans_and_lists_them(
    lane: LaneUnderTest, verb: str
) -> None:
    pushed(lane, "d", "a: d", "x")
    lane.bump("a")
    lane.settle("a", "dead")
    assert lane_of(lane) == ["d"]

    if verb == "push":
        answer = lane.push("new", bump=True)
    else:
        answer = lane.bump("x") if verb == "bump" else lane.unbump("x")

    assert answer.removed == ("d",)
    assert lane.records()[-1].removed == ("d",)
    assert "d" not in lane_of(lane)


def test_item_6_a_refused_request_sweeps_nothing(lane: LaneUnderTest) -> None:
    pushed(lane, "d", "a: d", "x")
    lane.bump("a")
    lane.settle("a", "cancelled")

    lane.unbump("a")
    lane.bump("no-such-job")
    lane.bump("x", who=Who.STRANGER)

    assert lane_of(lane) == ["d"]


def test_item_6_an_unbump_of_what_is_not_bumped_is_a_noop_on_record(lane: LaneUnderTest) -> None:
    pushed(lane, "x")

    answer = lane.unbump("x")

    assert answer.accepted
    assert answer.removed == answer.moved == ()
    assert "x" in answer.note
    assert [record.type for record in lane.records()] == ["PriorityUnbumped"]


def test_item_6_what_a_newer_release_wrote_stays_with_what_it_needs(lane: LaneUnderTest) -> None:
    pushed(lane, "e", "n: e", "d", "a: n d", "x")
    lane.bump("a")
    lane.write_as_newer("n")

    answer = lane.unbump("a")

    assert answer.accepted
    assert answer.removed == ("d", "a")
    assert answer.skipped == ("e", "n")
    assert lane_of(lane) == ["e", "n"]
    assert lane.order()[:2] == ["e", "n"]


def test_item_6_an_unbump_is_refused_while_a_newer_releases_job_needs_the_target(
    lane: LaneUnderTest,
) -> None:
    pushed(lane, "d", "n: d")
    lane.bump("n")
    lane.bump("d")
    lane.write_as_newer("n")

    answer = lane.unbump("d")

    assert answer.refusal == "still-needed"
    assert "n" in answer.note


def test_item_6_what_a_named_job_came_to_need_enters_with_the_next_request(
    lane: LaneUnderTest,
) -> None:
    pushed(lane, "t1", "doc: t1", "x")
    lane.bump("doc")
    lane.push("t2")
    lane.entangle("doc", ["t1", "t2"])
    assert lane_of(lane) == ["t1", "doc"]

    answer = lane.unbump("x")

    assert answer.moved == ("t2",)
    assert lane_of(lane) == ["t1", "doc", "t2"]


def test_item_7_a_job_can_be_enqueued_ahead_in_one_step(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "d")

    answer = lane.push("new", needs=["d"], bump=True, reason="at once")

    assert answer.moved == ("d", "new")
    assert lane.order() == ["d", "new", "x"]
    assert [record.reason for record in lane.records()] == ["at once"]


@pytest.mark.parametrize("who", REFUSED)
def test_item_7_without_the_grant_nothing_is_created(lane: LaneUnderTest, who: Who) -> None:
    pushed(lane, "x")

    answer = lane.push("new", bump=True, who=who)

    assert answer.refusal == "not-granted"
    assert lane.order() == ["x"]
    assert [record.type for record in lane.records()] == ["PriorityRefused"]


def test_item_7_a_refused_bump_creates_nothing(lane: LaneUnderTest) -> None:
    pushed(lane, "dead")
    lane.settle("dead", "dead")

    answer = lane.push("new", needs=["dead"], bump=True)

    assert answer.refusal == "dependency-failed"
    assert "new" not in lane.jobs()


def test_item_7_enqueuing_what_is_there_bumps_it(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "a")

    answer = lane.push("a", bump=True)

    assert answer.moved == ("a",)
    assert lane.order() == ["a", "x"]


def test_item_7_a_repeat_after_an_unbump_bumps_again(lane: LaneUnderTest) -> None:
    pushed(lane, "x")
    lane.push("a", bump=True)
    lane.unbump("a")

    assert lane.push("a", bump=True).moved == ("a",)


@pytest.mark.parametrize("state", ["done", "dead", "cancelled"])
@pytest.mark.parametrize("verb", ["bump", "push"])
def test_item_7_a_bump_of_what_has_ended_is_a_noop_on_record(
    lane: LaneUnderTest, verb: str, state: str
) -> None:
    pushed(lane, "a", "x")
    lane.settle("a", state)

    answer = lane.bump("a") if verb == "bump" else lane.push("a", bump=True)

    assert answer.accepted
    assert answer.moved == answer.removed == ()
    assert state in answer.note
    assert [record.type for record in lane.records()] == ["PriorityBumped"]
    assert lane_of(lane) == []
