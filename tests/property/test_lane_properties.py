"""The lane's planners under any requests in any order, and for any jobs whatever."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guildqueue.domain.errors import QueueError
from guildqueue.domain.lane import LaneJob, Standing, plan_bump, plan_sweep, plan_unbump
from guildqueue.domain.lane_log import LaneReplay, plan_effects
from guildqueue.domain.order import SortKey
from tests.conformance.machine import LaneMachine
from tests.conformance.planned_lane import PlannedLane
from tests.conformance.protocol import LaneUnderTest
from tests.lane_builders import Jobs, lane_of, written


class PlannedLaneMachine(LaneMachine):
    def new_lane(self) -> LaneUnderTest:
        return PlannedLane()


PlannedLaneMachine.TestCase.settings = settings(
    deadline=None,
    max_examples=150,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPlannedLane = PlannedLaneMachine.TestCase

thorough = settings(deadline=None, max_examples=300)
NAMES = [f"j{number}" for number in range(7)]


@st.composite
def stored(draw: st.DrawFn) -> Jobs:
    """Jobs in any state of the table, sensible or not: rings, orphans, strays, unknown needs."""
    places = draw(st.permutations(range(1, len(NAMES) + 1)))
    jobs = {}
    for number, name in enumerate(NAMES):
        in_lane = draw(st.booleans())
        jobs[name] = LaneJob(
            id=name,
            standing=draw(st.sampled_from(Standing)),
            sort_key=SortKey(draw(st.integers(-1, 1)), number),
            needs=tuple(draw(st.lists(st.sampled_from([*NAMES, "lost"]), max_size=3))),
            bump_seq=places[number] if in_lane else None,
            named=in_lane and draw(st.booleans()),
        )
    return jobs


@thorough
@given(jobs=stored(), data=st.data())
def test_a_request_repeated_writes_nothing_the_second_time(jobs: Jobs, data: st.DataObject) -> None:
    plan_request = data.draw(st.sampled_from([plan_bump, plan_unbump]))
    targets = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))
    try:
        after = written(jobs, plan_request(jobs, targets))
    except QueueError:
        return

    assert not plan_request(after, targets).writes
    assert not plan_sweep(after).writes


@thorough
@given(jobs=stored(), data=st.data())
def test_what_a_newer_release_wrote_is_never_written(jobs: Jobs, data: st.DataObject) -> None:
    plan_request = data.draw(st.sampled_from([plan_bump, plan_unbump]))
    targets = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))
    try:
        plan = plan_request(jobs, targets)
    except QueueError:
        return

    newer = {name for name, job in jobs.items() if job.standing is Standing.NEWER}
    assert newer.isdisjoint({*plan.moved, *plan.naming, *plan.removed})


@thorough
@given(jobs=stored(), data=st.data())
def test_the_records_of_requests_give_the_lane_that_they_left(
    jobs: Jobs, data: st.DataObject
) -> None:
    replay = LaneReplay({name: jobs[name].named for name in lane_of(jobs)})
    for _ in range(data.draw(st.integers(1, 4))):
        plan_request = data.draw(st.sampled_from([plan_bump, plan_unbump]))
        try:
            plan = plan_request(jobs, [data.draw(st.sampled_from(NAMES))])
        except QueueError:
            continue
        jobs = written(jobs, plan)
        replay.apply(plan_effects(plan))

    assert list(replay.members.items()) == [(name, jobs[name].named) for name in lane_of(jobs)]
