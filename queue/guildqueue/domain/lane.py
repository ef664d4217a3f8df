"""What runs next: which jobs the lane holds, and what a bump or an un-bump changes of it.

The ids are whatever a store has, the sequence numbers are the store's to draw: a plan lists
what enters the lane, in order.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from guildqueue.domain.errors import JobNotFound
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import KNOWN_KINDS, OUTSTANDING, JobState
from guildqueue.domain.lane_graph import dependents_of, find_ring, needed_by, sorted_by_needs
from guildqueue.domain.lane_refusals import (
    DependencyFailed,
    DependencyRing,
    JobFinished,
    StillNeeded,
    WrittenByNewer,
    listed,
)
from guildqueue.domain.order import ClaimKey, SortKey, claim_key

Id = TypeVar("Id", bound=Hashable)


class Standing(StrEnum):
    """How a job stands towards the lane; NEWER is any kind or state this release cannot know."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"
    NEWER = "newer"


ENDED = frozenset({Standing.DONE, Standing.DEAD, Standing.CANCELLED})
STANDINGS: Mapping[str, Standing] = {state.value: Standing(state.value) for state in JobState}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneJob(Generic[Id]):
    """A job as the lane sees it.

    ``bump_seq`` is None outside the lane; ``named`` tells a job that somebody bumped from one
    that was pulled in.
    """

    id: Id
    standing: Standing
    sort_key: SortKey
    needs: tuple[Id, ...] = ()
    bump_seq: int | None = None
    named: bool = False

    @property
    def is_unfinished(self) -> bool:
        return self.standing not in ENDED

    @property
    def is_newer(self) -> bool:
        return self.standing is Standing.NEWER

    @property
    def key(self) -> ClaimKey:
        """Its place among all jobs: the order of claims."""
        return claim_key(self.bump_seq, self.sort_key.priority, JobId(self.sort_key.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlan(Generic[Id]):
    """What to write so that the lane is its derivation; all empty for a no-op.

    ``moved`` enter the lane in this order, each with the next number; ``naming`` become named,
    whether they enter now or were pulled in before; ``removed`` lose number and name. For the
    record alone: ``already`` were ahead and keep their place, ``skipped`` are what only a
    newer release may write, with what that still needs. ``note`` says why nothing moved.
    """

    moved: tuple[Id, ...] = ()
    naming: tuple[Id, ...] = ()
    already: tuple[Id, ...] = ()
    removed: tuple[Id, ...] = ()
    skipped: tuple[Id, ...] = ()
    note: str = ""

    @property
    def writes(self) -> bool:
        return bool(self.moved or self.naming or self.removed)


Jobs = Mapping[Id, LaneJob[Id]]
"""A guild's jobs by id, read once they are locked.

It holds every job in the lane and every target, with all that they need, transitively, down to
the first one that has ended. A needed id that is not in it counts as unknown.
"""


def standing_of(state: str, kind: str) -> Standing:
    """The standing of a stored job; what has ended has ended, whatever its kind."""
    if state in OUTSTANDING and kind not in KNOWN_KINDS:
        return Standing.NEWER
    return STANDINGS.get(state, Standing.NEWER)


def running_order(jobs: Iterable[LaneJob[Id]]) -> list[LaneJob[Id]]:
    """The unfinished jobs, in the order in which they run."""
    return sorted((job for job in jobs if job.is_unfinished), key=lambda job: job.key)


def derived_lane(jobs: Jobs[Id]) -> frozenset[Id]:
    """What the lane should hold: the named unfinished jobs and all they need, transitively."""
    return frozenset(needed_by(jobs, named_jobs(jobs)))


def named_jobs(jobs: Jobs[Id]) -> frozenset[Id]:
    return frozenset(job.id for job in jobs.values() if job.named and job.is_unfinished)


def plan_bump(jobs: Jobs[Id], targets: Sequence[Id]) -> LanePlan[Id]:
    """Name the targets, pull in what they need, sweep what nothing needs any more.

    O(n log n) in ``jobs``. Targets that have ended are left out; with nothing else it is a
    no-op that sweeps. Raises JobNotFound, WrittenByNewer, DependencyFailed or DependencyRing;
    then nothing is to be written.
    """
    _check_present(jobs, targets)
    live = [target for target in dict.fromkeys(targets) if jobs[target].is_unfinished]
    _check_can_finish(jobs, live)
    closure = needed_by(jobs, live)
    plan = _plan_derivation(jobs, named_jobs(jobs) | set(live))
    return replace(
        plan,
        naming=tuple(target for target in live if not jobs[target].named),
        already=_in_order(jobs, [i for i in closure if jobs[i].bump_seq is not None]),
        note=_bump_note(jobs, targets, plan),
    )


def plan_unbump(jobs: Jobs[Id], targets: Sequence[Id]) -> LanePlan[Id]:
    """Take the targets, judged as one set, out of the named jobs, and sweep.

    A target that is not bumped by name makes it a no-op that sweeps. Raises JobNotFound,
    JobFinished if all targets have ended, StillNeeded while a job that is named, or that a
    newer release wrote, needs one of them; then nothing is to be written.
    """
    _check_present(jobs, targets)
    live = [target for target in dict.fromkeys(targets) if jobs[target].is_unfinished]
    if not live:
        raise JobFinished(targets[0], jobs[targets[0]].standing)
    _check_not_needed(jobs, live)
    named = named_jobs(jobs)
    without = _plan_derivation(jobs, named - set(live))
    # A newer release's job keeps its name with its place, and so goes on needing what it needs.
    keeping = {target for target in live if jobs[target].is_newer} & named
    plan = _plan_derivation(jobs, named - set(live) | keeping) if keeping else without
    skipped = _in_order(jobs, {*plan.skipped, *without.skipped})
    plan = replace(plan, skipped=skipped)
    return replace(plan, note=_unbump_note(jobs, live, plan))


def plan_sweep(jobs: Jobs[Id]) -> LanePlan[Id]:
    """What makes the lane its derivation where nobody bumps anything."""
    return _plan_derivation(jobs, named_jobs(jobs))


def _plan_derivation(jobs: Jobs[Id], named: Collection[Id]) -> LanePlan[Id]:
    """Make the lane what ``named`` derive, as far as this release may write."""
    derived = needed_by(jobs, named)
    members = {job.id for job in jobs.values() if job.bump_seq is not None}
    stray = members - derived
    unwritten = needed_by(jobs, [job_id for job_id in stray if jobs[job_id].is_newer])
    kept = stray & unwritten
    absent = derived - members
    unwritable = {i for i in absent if jobs[i].is_newer}
    return LanePlan(
        moved=tuple(sorted_by_needs(jobs, absent - unwritable)),
        removed=_in_order(jobs, stray - kept),
        skipped=_in_order(jobs, kept | unwritable),
    )


def _check_present(jobs: Jobs[Id], targets: Sequence[Id]) -> None:
    for target in targets:
        if target not in jobs:
            raise JobNotFound(target if isinstance(target, int) else str(target))


def _check_can_finish(jobs: Jobs[Id], targets: Sequence[Id]) -> None:
    """Raise for whatever keeps a target from ever running, all of it named at once."""
    closure = needed_by(jobs, targets)
    newer = [target for target in targets if jobs[target].is_newer]
    if newer:
        raise WrittenByNewer(newer[0], newer)
    met = [(i, need) for i in _in_order(jobs, closure) for need in dict.fromkeys(jobs[i].needs)]
    hopeless = [(i, need) for i, need in met if _obstacle(jobs, need)]
    if hopeless:
        failed = {need: _obstacle(jobs, need) for _, need in hopeless}
        raise DependencyFailed(_above(jobs, targets, hopeless[0][0]), list(failed.items()))
    written = [(i, need) for i, need in met if jobs[need].is_newer]
    if written:
        named = dict.fromkeys(need for _, need in written)
        raise WrittenByNewer(_above(jobs, targets, written[0][0]), named)
    ring = find_ring(jobs, closure)
    if ring:
        raise DependencyRing(_above(jobs, targets, ring[0]), ring)


def _obstacle(jobs: Jobs[Id], need: Id) -> str:
    """Why the needed job can never finish; "" if it can."""
    if need not in jobs:
        return "unknown"
    standing = jobs[need].standing
    return standing.value if standing in {Standing.DEAD, Standing.CANCELLED} else ""


def _above(jobs: Jobs[Id], targets: Sequence[Id], job_id: Id) -> Id:
    """The first target that is the job or needs it."""
    return next(target for target in targets if job_id in needed_by(jobs, [target]))


def _check_not_needed(jobs: Jobs[Id], targets: Sequence[Id]) -> None:
    above = dependents_of(jobs, targets)
    holding = [
        job_id
        for job_id in _in_order(jobs, above)
        if (jobs[job_id].named and job_id not in targets)
        or (jobs[job_id].is_newer and jobs[job_id].bump_seq is not None)
    ]
    if holding:
        needs = (target for target in targets if holding[0] in dependents_of(jobs, [target]))
        raise StillNeeded(next(needs), holding)


def _in_order(jobs: Jobs[Id], job_ids: Iterable[Id]) -> tuple[Id, ...]:
    return tuple(sorted(job_ids, key=lambda job_id: jobs[job_id].key))


def _bump_note(jobs: Jobs[Id], targets: Sequence[Id], plan: LanePlan[Id]) -> str:
    ended = [t for t in dict.fromkeys(targets) if not jobs[t].is_unfinished]
    before = [t for t in dict.fromkeys(targets) if jobs[t].bump_seq is not None and t not in ended]
    pulled = [target for target in before if not jobs[target].named]
    by_standing = ((s, [t for t in ended if jobs[t].standing is s]) for s in Standing)
    parts = [_ended_note(standing, found) for standing, found in by_standing if found]
    if pulled:
        parts.append(f"was pulled in, is named now: {listed(pulled)}")
    if len(before) > len(pulled) and not plan.moved:
        named = [target for target in before if target not in pulled]
        parts.append(f"was ahead already: {listed(named)}")
    return "; ".join([*parts, *_skip_note(plan)])


def _ended_note(standing: Standing, ended: Sequence[Id]) -> str:
    said = f"job {ended[0]} is" if len(ended) == 1 else f"jobs {listed(ended)} are"
    return f"{said} {standing}: nothing to move"


def _unbump_note(jobs: Jobs[Id], targets: Sequence[Id], plan: LanePlan[Id]) -> str:
    parts = []
    if not any(jobs[target].named for target in targets):
        parts.append(f"not bumped: {listed(targets)}")
    return "; ".join([*parts, *_skip_note(plan)])


def _skip_note(plan: LanePlan[Id]) -> list[str]:
    if not plan.skipped:
        return []
    return [f"left as they are, for a newer release to write: {listed(plan.skipped)}"]
