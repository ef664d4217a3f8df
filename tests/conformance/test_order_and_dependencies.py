"""The lane's contract, items 1 to 3: next, in which order, and with what it needs."""

from itertools import pairwise

import pytest

from tests.conformance.protocol import LaneUnderTest, lane_of, named_of


def pushed(lane: LaneUnderTest, *lines: str) -> None:
    """Jobs from lines like ``a: d e``."""
    for line in lines:
        name, _, needs = line.partition(":")
        lane.push(name, needs=needs.split())


def test_item_1_a_bump_leaves_what_is_running_alone(lane: LaneUnderTest) -> None:
    pushed(lane, "running", "waiting", "next")
    lane.start("running")
    held = lane.lease("running")

    lane.bump("next")

    assert lane.lease("running") == held
    assert lane.order() == ["next", "running", "waiting"]


def test_item_1_what_runs_is_moved_without_its_lease_being_touched(lane: LaneUnderTest) -> None:
    pushed(lane, "other", "running", "next: running")
    lane.start("running")
    held = lane.lease("running")

    answer = lane.bump("next")

    assert answer.moved == ("running", "next")
    assert lane.lease("running") == held


def test_item_2_bumped_jobs_run_first_in_the_order_of_their_bumps(lane: LaneUnderTest) -> None:
    pushed(lane, "a", "b", "c", "d")

    for name in ("d", "b", "c"):
        lane.bump(name)

    assert lane.order() == ["d", "b", "c", "a"]


def test_item_2_those_that_are_not_bumped_keep_their_order(lane: LaneUnderTest) -> None:
    pushed(lane, "a", "b", "c", "d", "e")
    lane.bump("c")

    lane.unbump("c")

    assert lane.order() == ["a", "b", "c", "d", "e"]


def test_item_2_bumping_what_is_in_the_lane_keeps_its_place(lane: LaneUnderTest) -> None:
    pushed(lane, "a", "b", "c")
    lane.bump("c")
    lane.bump("b")

    answer = lane.bump("c")

    assert answer.accepted
    assert answer.moved == ()
    assert answer.already == ("c",)
    assert lane.order() == ["c", "b", "a"]


def test_item_2_what_was_pulled_in_becomes_named_in_its_place(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "d", "a: d")
    lane.bump("a")
    lane.bump("x")

    lane.bump("d")

    assert lane_of(lane) == ["d", "a", "x"]
    assert named_of(lane) == {"a", "d", "x"}


def test_item_3_dependencies_come_along_before_what_needs_them(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "e", "d: e", "a: d")

    answer = lane.bump("a")

    assert answer.moved == ("e", "d", "a")
    assert lane.order() == ["e", "d", "a", "x"]
    assert named_of(lane) == {"a"}


def test_item_3_dependencies_keep_their_relative_order(lane: LaneUnderTest) -> None:
    pushed(lane, "x", "d1", "d2", "d3", "a: d3 d1 d2")

    assert lane.bump("a").moved == ("d1", "d2", "d3", "a")


def test_item_3_a_dependency_that_is_ahead_already_is_told_apart(lane: LaneUnderTest) -> None:
    pushed(lane, "d", "e", "a: d", "b: d e")
    lane.bump("a")

    answer = lane.bump("b")

    assert answer.moved == ("e", "b")
    assert answer.already == ("d",)


def test_item_3_what_is_done_is_not_moved_nor_looked_behind(lane: LaneUnderTest) -> None:
    pushed(lane, "e", "d: e", "a: d")
    lane.settle("d", "done")
    lane.settle("e", "dead")

    assert lane.bump("a").moved == ("a",)


@pytest.mark.parametrize("state", ["dead", "cancelled"])
def test_item_3_a_dependency_that_has_failed_refuses_the_bump_by_name(
    lane: LaneUnderTest, state: str
) -> None:
    pushed(lane, "x", "failed", "d: failed", "a: d")
    lane.settle("failed", state)

    answer = lane.bump("a")

    assert answer.refusal == "dependency-failed"
    assert "failed" in answer.note
    assert lane_of(lane) == []


def test_item_3_an_unknown_dependency_refuses_the_bump_by_name(lane: LaneUnderTest) -> None:
    pushed(lane, "a")
    lane.entangle("a", ["nowhere"])

    answer = lane.bump("a")

    assert answer.refusal == "dependency-failed"
    assert "nowhere" in answer.note


def test_item_3_a_ring_refuses_the_bump_by_name(lane: LaneUnderTest) -> None:
    pushed(lane, "r1", "r2: r1", "a: r2", "x")
    lane.entangle("r1", ["r2"])

    answer = lane.bump("a")

    assert answer.refusal == "dependency-ring"
    assert "r1" in answer.note
    assert "r2" in answer.note
    assert lane.order() == ["r1", "r2", "a", "x"]


def test_item_3_a_newer_releases_dependency_refuses_the_bump_by_name(
    lane: LaneUnderTest,
) -> None:
    pushed(lane, "n", "d: n", "a: d")
    lane.write_as_newer("n")

    answer = lane.bump("a")

    assert answer.refusal == "newer-release"
    assert "n" in answer.note
    assert lane_of(lane) == []


def test_item_3_a_newer_releases_job_cannot_be_bumped(lane: LaneUnderTest) -> None:
    pushed(lane, "n")
    lane.write_as_newer("n")

    assert lane.bump("n").refusal == "newer-release"


def test_item_3_a_long_chain_comes_along_whole(lane: LaneUnderTest) -> None:
    names = [f"j{number:03}" for number in range(60)]
    for name in names:
        lane.push(name)
    for before, after in pairwise(names):
        lane.entangle(after, [before])

    assert list(lane.bump(names[-1]).moved) == names
