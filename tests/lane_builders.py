"""Queues of lane jobs for tests, spelled as the text of a file-backed queue is."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from guildqueue.domain.lane import LaneJob, LanePlan, Standing, plan_bump, plan_unbump
from guildqueue.domain.lane_text import parse_queue
from guildqueue.domain.order import SortKey

Jobs = dict[str, LaneJob[str]]


def queue_of(
    *lines: str, lane: Iterable[str] = (), named: Iterable[str] = (), **standings: Standing
) -> Jobs:
    """Jobs from lines like ``a: d e``, in that order; ``lane`` are in it, ``named`` of those."""
    places = {slug: number for number, slug in enumerate(lane, start=1)}
    return {
        item.slug: LaneJob(
            id=item.slug,
            standing=standings.get(item.slug, Standing.PENDING),
            sort_key=SortKey(0, item.line),
            needs=item.needs,
            bump_seq=places.get(item.slug),
            named=item.slug in named,
        )
        for item in parse_queue("\n".join(lines).encode()).values()
    }


def written(jobs: Mapping[str, LaneJob[str]], plan: LanePlan[str]) -> Jobs:
    """The jobs once a store has written the plan."""
    after = dict(jobs)
    top = max((job.bump_seq or 0 for job in jobs.values()), default=0)
    for job_id in plan.removed:
        after[job_id] = replace(after[job_id], bump_seq=None, named=False)
    for number, job_id in enumerate(plan.moved, start=top + 1):
        after[job_id] = replace(after[job_id], bump_seq=number)
    for job_id in plan.naming:
        after[job_id] = replace(after[job_id], named=True)
    return after


def bumped(jobs: Mapping[str, LaneJob[str]], *targets: str) -> Jobs:
    return written(jobs, plan_bump(jobs, targets))


def unbumped(jobs: Mapping[str, LaneJob[str]], *targets: str) -> Jobs:
    return written(jobs, plan_unbump(jobs, targets))


def ended(jobs: Mapping[str, LaneJob[str]], job_id: str, standing: Standing) -> Jobs:
    """The jobs once one has ended, which takes it out of the lane."""
    job = replace(jobs[job_id], standing=standing, bump_seq=None, named=False)
    return {**jobs, job_id: job}


def lane_of(jobs: Mapping[str, LaneJob[str]]) -> list[str]:
    members = [job for job in jobs.values() if job.bump_seq is not None]
    return [job.id for job in sorted(members, key=lambda job: job.key)]
