"""What a bump and an un-bump plan: who moves, in which order, who is swept, who is refused."""

import time

import pytest

from guildqueue.domain.errors import JobNotFound
from guildqueue.domain.lane import (
    LaneJob,
    LanePlan,
    Standing,
    derived_lane,
    plan_bump,
    plan_sweep,
    plan_unbump,
    running_order,
    standing_of,
)
from guildqueue.domain.lane_refusals import (
    DependencyFailed,
    DependencyRing,
    JobFinished,
    StillNeeded,
    WrittenByNewer,
)
from guildqueue.domain.order import SortKey
from tests.lane_builders import bumped, ended, lane_of, queue_of, unbumped, written


def test_a_bumped_job_runs_before_everything_that_is_not() -> None:
    jobs = bumped(queue_of("a", "b", "c"), "c")

    assert [job.id for job in running_order(jobs.values())] == ["c", "a", "b"]


def test_what_has_ended_has_no_place_in_the_running_order() -> None:
    jobs = queue_of("a", "b", "c", a=Standing.DONE, b=Standing.DEAD)

    assert [job.id for job in running_order(jobs.values())] == ["c"]


def test_dependencies_come_along_before_what_needs_them() -> None:
    jobs = queue_of("x", "t: d", "d: e", "e")

    plan = plan_bump(jobs, ["t"])

    assert plan == LanePlan(moved=("e", "d", "t"), naming=("t",))


def test_dependencies_keep_their_relative_order() -> None:
    jobs = queue_of("e", "b", "d", "t: d b e")

    assert plan_bump(jobs, ["t"]).moved == ("e", "b", "d", "t")


def test_a_bump_of_what_was_pulled_in_names_it_in_its_place() -> None:
    jobs = bumped(queue_of("d", "a: d", "x"), "a")
    jobs = bumped(jobs, "x")

    plan = plan_bump(jobs, ["d"])

    assert plan == LanePlan(naming=("d",), already=("d",), note="was pulled in, is named now: d")
    assert lane_of(written(jobs, plan)) == ["d", "a", "x"]


def test_a_second_bump_changes_nothing() -> None:
    jobs = bumped(queue_of("d", "a: d"), "a")

    plan = plan_bump(jobs, ["a"])

    assert not plan.writes
    assert plan.already == ("d", "a")
    assert plan.note == "was ahead already: a"


def test_a_running_dependency_moves_like_any_other() -> None:
    jobs = queue_of("x", "d", "a: d", d=Standing.RUNNING)

    assert plan_bump(jobs, ["a"]).moved == ("d", "a")


def test_the_closure_stops_at_what_is_done() -> None:
    jobs = queue_of("dead", "d: dead", "a: d", dead=Standing.DEAD, d=Standing.DONE)

    assert plan_bump(jobs, ["a"]).moved == ("a",)


@pytest.mark.parametrize("standing", [Standing.DEAD, Standing.CANCELLED])
def test_a_dependency_that_has_failed_refuses_the_bump_by_name(standing: Standing) -> None:
    jobs = queue_of("d", "e: d", "a: e", d=standing)

    with pytest.raises(DependencyFailed, match=rf"job a .* d \({standing}\)") as caught:
        plan_bump(jobs, ["a"])

    assert caught.value.failed == (("d", standing.value),)


def test_an_unknown_dependency_refuses_the_bump_by_name() -> None:
    with pytest.raises(DependencyFailed, match=r"nowhere \(unknown\)"):
        plan_bump(queue_of("a: nowhere"), ["a"])


def test_every_dependency_that_has_failed_is_named() -> None:
    jobs = queue_of("d", "e", "a: d e lost", d=Standing.DEAD, e=Standing.CANCELLED)

    with pytest.raises(DependencyFailed) as caught:
        plan_bump(jobs, ["a"])

    assert [job_id for job_id, _ in caught.value.failed] == ["d", "e", "lost"]


def test_a_ring_refuses_the_bump_and_is_spelled() -> None:
    jobs = queue_of("a: b", "b: c", "c: b", "x")

    with pytest.raises(DependencyRing, match="b needs c needs b") as caught:
        plan_bump(jobs, ["a"])

    assert caught.value.ring == ("b", "c")


def test_a_job_that_needs_itself_is_a_ring() -> None:
    with pytest.raises(DependencyRing, match="a needs a"):
        plan_bump(queue_of("a: a"), ["a"])


def test_a_ring_through_what_is_done_is_none() -> None:
    jobs = queue_of("a: b", "b: a", b=Standing.DONE)

    assert plan_bump(jobs, ["a"]).moved == ("a",)


@pytest.mark.parametrize("met", ["a", "d", "e"])
def test_a_bump_that_meets_a_newer_releases_job_is_refused(met: str) -> None:
    jobs = queue_of("e", "d: e", "a: d", **{met: Standing.NEWER})

    with pytest.raises(WrittenByNewer) as caught:
        plan_bump(jobs, ["a"])

    assert caught.value.met == (met,)


def test_a_bump_of_an_unknown_job_is_refused() -> None:
    with pytest.raises(JobNotFound, match="no job 'b'"):
        plan_bump(queue_of("a"), ["b"])


@pytest.mark.parametrize("standing", [Standing.DONE, Standing.DEAD, Standing.CANCELLED])
def test_a_bump_of_what_has_ended_sweeps_and_nothing_more(standing: Standing) -> None:
    jobs = ended(bumped(queue_of("d", "a: d"), "a"), "a", standing)

    plan = plan_bump(jobs, ["a"])

    assert plan == LanePlan(removed=("d",), note=f"job a is {standing}: nothing to move")


def test_what_has_ended_alike_is_told_in_one_breath() -> None:
    jobs = ended(ended(queue_of("a", "b", "c"), "a", Standing.DONE), "c", Standing.DONE)

    plan = plan_bump(ended(jobs, "b", Standing.DEAD), ["a", "b", "c"])

    assert plan.note == "jobs a, c are done: nothing to move; job b is dead: nothing to move"


def test_several_targets_are_named_at_once_dependencies_first() -> None:
    jobs = queue_of("doc: t1 t2", "t1", "x", "t2")

    plan = plan_bump(jobs, ["doc", "t1", "t2"])

    assert plan.moved == ("t1", "t2", "doc")
    assert set(plan.naming) == {"doc", "t1", "t2"}


def test_of_several_targets_the_finished_are_left_out() -> None:
    jobs = queue_of("t1", "doc: t1", t1=Standing.DONE)

    plan = plan_bump(jobs, ["t1", "doc"])

    assert plan.moved == plan.naming == ("doc",)
    assert "t1 is done" in plan.note


def test_one_target_that_cannot_finish_refuses_them_all() -> None:
    jobs = queue_of("t1", "t2: dead", "dead", dead=Standing.DEAD)

    with pytest.raises(DependencyFailed, match="job t2"):
        plan_bump(jobs, ["t1", "t2"])


def test_an_unbump_takes_along_what_only_it_had_pulled_in() -> None:
    jobs = bumped(bumped(queue_of("d", "e", "a: d e", "b: e"), "a"), "b")

    plan = plan_unbump(jobs, ["a"])

    assert plan == LanePlan(removed=("d", "a"))


def test_the_last_unbump_leaves_no_orphan() -> None:
    jobs = queue_of("x", "d", "a: d", "b: d")
    jobs = unbumped(bumped(bumped(jobs, "a"), "b"), "a")
    assert lane_of(jobs) == ["d", "b"]

    jobs = unbumped(jobs, "b")

    assert lane_of(jobs) == []
    assert [job.id for job in running_order(jobs.values())] == ["x", "d", "a", "b"]


def test_an_unbump_is_refused_while_named_jobs_need_the_target() -> None:
    jobs = bumped(bumped(bumped(queue_of("d", "m: d", "a: m", "b: d"), "a"), "b"), "d")

    with pytest.raises(StillNeeded, match="job d is needed by what runs next: a, b") as caught:
        plan_unbump(jobs, ["d"])

    assert caught.value.dependents == ("a", "b")


def test_what_was_pulled_in_is_not_unbumped_either_while_it_is_needed() -> None:
    with pytest.raises(StillNeeded, match=r"a$"):
        plan_unbump(bumped(queue_of("d", "a: d"), "a"), ["d"])


def test_a_dependent_that_is_done_with_holds_nothing() -> None:
    jobs = bumped(queue_of("d", "m: d", "a: m", m=Standing.DONE), "a")
    jobs = bumped(jobs, "d")

    assert plan_unbump(jobs, ["d"]).removed == ("d",)


def test_targets_of_one_unbump_do_not_hold_each_other() -> None:
    jobs = bumped(queue_of("t1", "t2", "doc: t1 t2"), "t1", "t2", "doc")

    plan = plan_unbump(jobs, ["t1", "t2", "doc"])

    assert plan == LanePlan(removed=("t1", "t2", "doc"))


@pytest.mark.parametrize("standing", [Standing.DONE, Standing.DEAD, Standing.CANCELLED])
def test_an_unbump_of_what_has_ended_is_refused(standing: Standing) -> None:
    with pytest.raises(JobFinished, match=f"it is {standing}"):
        plan_unbump(queue_of("a", a=standing), ["a"])


def test_an_unbump_of_an_unknown_job_is_refused() -> None:
    with pytest.raises(JobNotFound):
        plan_unbump(queue_of("a"), ["b"])


def test_an_unbump_of_what_is_not_bumped_sweeps() -> None:
    jobs = ended(bumped(queue_of("d", "a: d", "x"), "a"), "a", Standing.CANCELLED)

    plan = plan_unbump(jobs, ["x"])

    assert plan == LanePlan(removed=("d",), note="not bumped: x")


def test_an_orphan_can_be_unbumped_by_name() -> None:
    jobs = ended(bumped(queue_of("d", "a: d"), "a"), "a", Standing.DEAD)

    assert plan_unbump(jobs, ["d"]).removed == ("d",)


def test_what_a_named_job_came_to_need_enters_with_the_next_request() -> None:
    jobs = bumped(queue_of("doc: t1", "t1", "x", "late"), "doc")
    jobs |= {
        "doc": LaneJob(
            id="doc",
            standing=Standing.PENDING,
            sort_key=SortKey(0, 1),
            needs=("t1", "late"),
            bump_seq=2,
            named=True,
        )
    }

    plan = plan_bump(jobs, ["x"])

    assert plan.moved == ("x", "late")
    assert plan_sweep(jobs).moved == ("late",)


def test_a_sweep_leaves_what_a_newer_release_wrote_and_what_that_needs() -> None:
    jobs = queue_of(
        "e", "n: e", "d", "a: n d", lane=["e", "n", "d", "a"], named=["a"], n=Standing.NEWER
    )

    plan = plan_unbump(jobs, ["a"])

    assert plan.removed == ("d", "a")
    assert plan.skipped == ("e", "n")
    assert "newer release" in plan.note


def test_an_unbump_is_refused_while_a_newer_releases_job_in_the_lane_needs_the_target() -> None:
    jobs = queue_of("d", "n: d", lane=["d", "n"], named=["d"], n=Standing.NEWER)

    with pytest.raises(StillNeeded, match=r"n$"):
        plan_unbump(jobs, ["d"])


def test_a_newer_releases_job_outside_the_lane_holds_nothing() -> None:
    jobs = queue_of("d", "n: d", lane=["d"], named=["d"], n=Standing.NEWER)

    assert plan_unbump(jobs, ["d"]).removed == ("d",)


def test_a_newer_releases_job_is_skipped_where_it_is_itself_unbumped() -> None:
    jobs = queue_of("d", "n: d", lane=["d", "n"], named=["n"], n=Standing.NEWER)

    plan = plan_unbump(jobs, ["n"])

    assert plan.skipped == ("d", "n")
    assert not plan.writes


def test_what_a_named_job_needs_of_a_newer_release_stays_out_and_is_told() -> None:
    jobs = queue_of("n: d", "d", "a: n", "x", lane=["a"], named=["a"], n=Standing.NEWER)

    plan = plan_unbump(jobs, ["x"])

    assert plan.moved == ("d",)
    assert plan.skipped == ("n",)


def test_a_job_that_ended_without_leaving_the_lane_is_swept() -> None:
    jobs = queue_of("d", "x", lane=["d"], named=["d"], d=Standing.DONE)

    assert plan_bump(jobs, ["x"]).removed == ("d",)


def test_the_derivation_is_the_named_and_all_they_need() -> None:
    jobs = queue_of("e", "d: e", "a: d done", "done", "x", named=["a"], done=Standing.DONE)

    assert derived_lane(jobs) == {"e", "d", "a"}


@pytest.mark.parametrize(
    ("state", "kind", "standing"),
    [
        ("pending", "transcribe", Standing.PENDING),
        ("running", "document", Standing.RUNNING),
        ("dead", "translate", Standing.DEAD),
        ("pending", "translate", Standing.NEWER),
        ("paused", "transcribe", Standing.NEWER),
        ("newer", "transcribe", Standing.NEWER),
    ],
)
def test_a_state_or_kind_of_a_newer_release_has_a_standing(
    state: str, kind: str, standing: Standing
) -> None:
    assert standing_of(state, kind) is standing


@pytest.mark.parametrize("is_chain", [True, False])
def test_a_thousand_dependencies_are_planned_in_a_few_milliseconds(is_chain: bool) -> None:
    jobs = {
        number: LaneJob(
            id=number,
            standing=Standing.PENDING,
            sort_key=SortKey(0, -number),
            needs=(number - 1,) if is_chain and number else (),
        )
        for number in range(1000)
    }
    top = LaneJob(
        id=1000,
        standing=Standing.PENDING,
        sort_key=SortKey(0, -1000),
        needs=(999,) if is_chain else tuple(range(1000)),
    )

    times_s = []
    for _ in range(5):
        start_s = time.process_time()
        plan = plan_bump({**jobs, 1000: top}, [1000])
        times_s.append(time.process_time() - start_s)

    assert len(plan.moved) == 1001
    assert min(times_s) < 0.025
