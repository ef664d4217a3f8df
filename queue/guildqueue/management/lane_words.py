"""How the lane is shown on a terminal and in JSON."""

from typing import Any

from guildqueue.domain.lane_listing import ListedJob
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import listed
from guildqueue.management.ending import one_line


def outcome_lines(done: str, outcome: LaneOutcome) -> list[str]:
    """An admitted request, a line for each thing it did; ``done`` is its verb."""
    lists = (
        ("moved", outcome.moved),
        ("ahead already", outcome.already if outcome.moved else ()),
        ("removed", outcome.removed),
        ("skipped", outcome.skipped),
    )
    lines = [f"{done} {outcome.job_id}", *(f"{name}: {listed(ids)}" for name, ids in lists if ids)]
    if outcome.note:
        lines.append(f"note: {outcome.note}")
    return [one_line(line) for line in lines]


def item_line(item: ListedJob[str]) -> str:
    """One item of a list: place, name, and whatever else is to be known."""
    job = item.job
    marks = []
    if job.bump_seq is not None:
        marks.append("runs next, named" if job.named else "runs next, pulled in")
    if not job.is_unfinished:
        marks.append(job.standing.value)
    if job.is_newer:
        marks.append("state unknown to this release")
    if item.waits_for is not None:
        marks.append(f"waits for {item.waits_for}")
    if job.needs:
        marks.append(f"needs {listed(job.needs)}")
    place = "-" if item.position is None else str(item.position)
    return f"{place:>4}  {job.id}" + (f"  ({'; '.join(marks)})" if marks else "")


def item_json(item: ListedJob[str]) -> dict[str, Any]:
    """One item of a list; ``state`` is null for one that this release does not know."""
    job = item.job
    return {
        "job_id": job.id,
        "state": None if job.is_newer else job.standing.value,
        "position": item.position,
        "lane": job.bump_seq is not None,
        "named": job.named,
        "needs": list(job.needs),
        "waits_for": item.waits_for,
    }
