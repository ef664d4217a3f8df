"""Any requests in any order on a lane, judged after each by rules that share nothing with it."""

from collections.abc import Collection, Mapping
from itertools import combinations, pairwise
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from guildqueue.domain.lane import LaneJob, Standing
from tests.conformance.protocol import REFUSED, Answer, LaneUnderTest, Who, lane_of, named_of

NAMES = [f"j{number}" for number in range(8)]
names = st.sampled_from(NAMES)
some_names = st.lists(names, max_size=3, unique=True)
UNFINISHED = {Standing.PENDING, Standing.RUNNING, Standing.NEWER}

Jobs = Mapping[str, LaneJob[str]]


def live(jobs: Jobs) -> set[str]:
    return {name for name, job in jobs.items() if job.standing in UNFINISHED}


def newer(jobs: Jobs) -> set[str]:
    return {name for name, job in jobs.items() if job.standing is Standing.NEWER}


def with_needs(jobs: Jobs, roots: Collection[str]) -> set[str]:
    """The unfinished roots and needs, found by repeating until nothing is added."""
    found = set(roots) & live(jobs)
    while True:
        more = {need for name in found for need in jobs[name].needs} & live(jobs)
        if more <= found:
            return found
        found |= more


def needs_one_of(jobs: Jobs, name: str, targets: Collection[str]) -> bool:
    needed = with_needs(jobs, set(jobs[name].needs))
    return name in live(jobs) and bool(needed & set(targets))


def can_never_run(jobs: Jobs, target: str) -> bool:
    """Whether something the target needs has failed, is unknown, newer or part of a ring."""
    closure = with_needs(jobs, {target})
    needed = {need for name in closure for need in jobs[name].needs}
    is_bad = any(
        need not in jobs or jobs[need].standing in {Standing.DEAD, Standing.CANCELLED}
        for need in needed
    )
    return is_bad or bool(closure & newer(jobs)) or in_ring(jobs, closure)


def overlapping(jobs: Jobs) -> list[tuple[str, str]]:
    """Pairs of which neither needs the other, and both need an unfinished third."""
    below = {name: with_needs(jobs, jobs[name].needs) for name in live(jobs)}
    return [
        (one, other)
        for one, other in combinations(sorted(below), 2)
        if below[one] & below[other] and one not in below[other] and other not in below[one]
    ]


def in_ring(jobs: Jobs, closure: Collection[str]) -> bool:
    return any(needs_one_of(jobs, name, {name}) for name in closure)


class LaneMachine(RuleBasedStateMachine):
    """Jobs named j0 to j7; a subclass says which lane it drives."""

    with_rings: ClassVar[bool] = True
    lane: LaneUnderTest

    def new_lane(self) -> LaneUnderTest:
        raise NotImplementedError

    @initialize()
    def empty(self) -> None:
        self.lane = self.new_lane()
        self.lane.declare(b'[priority]\nsources = ["nightly-import"]\n')
        self.order: list[str] = []

    @rule(name=names, needs=some_names, bump=st.booleans())
    def push(self, name: str, needs: list[str], bump: bool) -> None:
        before = self.lane.jobs()
        needs = [] if name in before else [need for need in needs if need in before]
        if not bump:
            self.lane.push(name, needs=needs)
            return
        answer = self.lane.push(name, needs=needs, bump=True)
        jobs = self.lane.jobs()
        if answer.accepted:
            self.check_admitted(before, jobs, answer, named_of_before(before) | {name})
        else:
            assert jobs == before

    @precondition(lambda self: self.lane.jobs())
    @rule(data=st.data())
    def bump(self, data: st.DataObject) -> None:
        self.ask_bump(data.draw(st.sampled_from(sorted(self.lane.jobs()))))

    @precondition(lambda self: self.lane.jobs())
    @rule(data=st.data())
    def unbump(self, data: st.DataObject) -> None:
        self.ask_unbump(data.draw(st.sampled_from(sorted(self.lane.jobs()))))

    @precondition(lambda self: bool(overlapping(self.lane.jobs())))
    @rule(data=st.data())
    def bump_and_take_back_two_that_share_a_need(self, data: st.DataObject) -> None:
        pair = data.draw(st.sampled_from(overlapping(self.lane.jobs())))
        for target in pair:
            self.ask_bump(target)
        for target in pair:
            self.ask_unbump(target)

    def ask_bump(self, target: str) -> None:
        before = self.lane.jobs()

        answer = self.lane.bump(target)

        may = target not in live(before) or not can_never_run(before, target)
        assert answer.accepted is may, answer
        self.check(before, answer, named_of_before(before) | {target})

    def ask_unbump(self, target: str) -> None:
        before = self.lane.jobs()

        answer = self.lane.unbump(target)

        assert answer.accepted is self.may_unbump(before, target), answer
        # What only a newer release may write keeps its name as well.
        taken = {target} - newer(before)
        self.check(before, answer, named_of_before(before) - taken)

    @precondition(lambda self: bool(live(self.lane.jobs())))
    @rule(data=st.data(), state=st.sampled_from(["done", "dead", "cancelled"]))
    def settle(self, data: st.DataObject, state: str) -> None:
        jobs = self.lane.jobs()
        candidates = sorted(live(jobs) - newer(jobs))
        if candidates:
            self.lane.settle(data.draw(st.sampled_from(candidates)), state)

    @precondition(lambda self: bool(live(self.lane.jobs())))
    @rule(data=st.data())
    def write_as_newer(self, data: st.DataObject) -> None:
        self.lane.write_as_newer(data.draw(st.sampled_from(sorted(live(self.lane.jobs())))))

    @precondition(lambda self: self.with_rings and self.lane.jobs())
    @rule(data=st.data(), needs=some_names)
    def entangle(self, data: st.DataObject, needs: list[str]) -> None:
        self.lane.entangle(data.draw(st.sampled_from(sorted(self.lane.jobs()))), needs)

    @precondition(lambda self: self.lane.jobs())
    @rule(data=st.data(), who=st.sampled_from(REFUSED), verb=st.sampled_from(["bump", "unbump"]))
    def ask_without_grant(self, data: st.DataObject, who: Who, verb: str) -> None:
        before, n_records = self.lane.jobs(), len(self.lane.records())
        target = data.draw(st.sampled_from(sorted(before)))

        answer = getattr(self.lane, verb)(target, who=who)

        assert answer.refusal == "not-granted"
        assert self.lane.jobs() == before
        assert len(self.lane.records()) == n_records + 1

    def teardown(self) -> None:
        if hasattr(self, "lane"):
            self.unbump_everything()

    def unbump_everything(self) -> None:
        """Un-bumping every named job empties the lane, but for what a newer release wrote."""
        self.lane.push("sweeper")
        while True:
            jobs = self.lane.jobs()
            free = [name for name in named_of(self.lane) if self.may_unbump(jobs, name)]
            free = [name for name in free if name not in newer(jobs)]
            if not free:
                break
            assert self.lane.unbump(free[0]).accepted
        assert self.lane.unbump("sweeper").accepted
        jobs, left = self.lane.jobs(), set(lane_of(self.lane))
        assert left <= with_needs(jobs, left & newer(jobs)) | self.in_rings(jobs, left)

    def in_rings(self, jobs: Jobs, left: Collection[str]) -> set[str]:
        """Named jobs that came to need each other hold each other, and what they need."""
        ringed = {name for name in left if needs_one_of(jobs, name, {name})}
        return with_needs(jobs, {n for n in left if needs_one_of(jobs, n, ringed)} | ringed)

    def may_unbump(self, jobs: Jobs, target: str) -> bool:
        holding = {
            name
            for name, job in jobs.items()
            if (job.named and name != target) or (name in newer(jobs) and job.bump_seq is not None)
        }
        is_held = any(needs_one_of(jobs, name, {target}) for name in holding & live(jobs))
        return target in live(jobs) and not is_held

    def check(self, before: Jobs, answer: Answer, named: Collection[str]) -> None:
        jobs = self.lane.jobs()
        if answer.accepted:
            self.check_admitted(before, jobs, answer, named)
        else:
            assert jobs == before
            assert answer.moved == answer.removed == answer.skipped == ()

    def check_admitted(
        self, before: Jobs, jobs: Jobs, answer: Answer, named: Collection[str]
    ) -> None:
        """The lane is its derivation, and the answer says what it took to make it so."""
        lane = set(lane_of(self.lane))
        derived = with_needs(jobs, named)
        left, missing = lane - derived, derived - lane
        assert left <= with_needs(jobs, left & newer(jobs))
        assert missing <= newer(jobs)
        assert named_of(self.lane) == (set(named) & live(jobs)) - (newer(jobs) - lane)

        was = in_lane_order(before)
        assert with_needs(jobs, left & newer(jobs)) & set(was) <= lane
        stayed = [name for name in was if name not in answer.removed]
        assert lane_of(self.lane) == [*stayed, *answer.moved]
        assert set(answer.moved).isdisjoint(was)
        assert set(answer.removed) <= set(was)
        assert set(answer.skipped) >= left | missing
        self.check_order(jobs, answer)
        assert self.lane.records()[-1].moved == answer.moved
        assert self.lane.records()[-1].removed == answer.removed

    def check_order(self, jobs: Jobs, answer: Answer) -> None:
        """Dependencies before dependents; the others, and all outside the lane, as they were."""
        moved = answer.moved
        for earlier, later in pairwise(moved):
            if jobs[earlier].sort_key > jobs[later].sort_key:
                # Out of the queue's order only for the sake of something that needs it.
                after = set(moved[moved.index(later) :])
                in_ring = needs_one_of(jobs, later, {later})
                assert in_ring or any(needs_one_of(jobs, n, {earlier}) for n in after)
        order = self.lane.order()
        members = lane_of(self.lane)
        outside = sorted(live(jobs) - set(members), key=lambda name: jobs[name].sort_key)
        assert order == [*members, *outside]


def in_lane_order(jobs: Jobs) -> list[str]:
    members = [job for job in jobs.values() if job.bump_seq is not None]
    return [job.id for job in sorted(members, key=lambda job: job.key)]


def named_of_before(jobs: Jobs) -> set[str]:
    return {name for name, job in jobs.items() if job.named}
