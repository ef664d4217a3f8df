"""A job before it is in the queue, and what it may need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Any

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import ITEMS_MOST, checked_text
from guildqueue.domain.ids import BIGINT_MAX, JobId, SessionId
from guildqueue.domain.job import KNOWN_KINDS, AssigneeKind
from guildqueue.domain.lane_graph import find_ring
from guildqueue.domain.lane_refusals import spelled_ring
from guildqueue.domain.order import SortKey

Need = JobId | str

_ASSIGNEE_KINDS = frozenset(AssigneeKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """One piece of work for a session.

    ``needs`` are ids of jobs, or external ids, also of jobs that are enqueued with it.
    ``run_after`` is aware. ``audio_seconds`` is None where nobody measured it.
    """

    session_id: SessionId
    kind: str
    assignee_kind: str = AssigneeKind.WORKER
    payload: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    labels: tuple[str, ...] = ()
    run_after: datetime | None = None
    external_id: str | None = None
    audio_seconds: float | None = None


def check_new_job(job: NewJob) -> None:
    """Raises InvalidInput, naming the field, for what could never be stored or done."""
    if job.kind not in KNOWN_KINDS:
        raise InvalidInput("kind", job.kind, KNOWN_KINDS)
    if job.assignee_kind not in _ASSIGNEE_KINDS:
        raise InvalidInput("assignee_kind", job.assignee_kind, AssigneeKind)
    if job.external_id is not None:
        checked_text("external_id", job.external_id)
    if job.labels or job.needs:
        _check_lists(job)
    if job.run_after is not None and job.run_after.tzinfo is None:
        raise InvalidInput("run_after", job.run_after, "a moment with its time zone")
    if job.audio_seconds is not None and not 0 <= job.audio_seconds < inf:
        raise InvalidInput("audio_seconds", job.audio_seconds, "a finite number from 0 on")


def _check_lists(job: NewJob) -> None:
    for name, items in (("labels", job.labels), ("needs", job.needs)):
        if len(items) > ITEMS_MOST:
            raise InvalidInput(name, len(items), f"at most {ITEMS_MOST}")
    for label in job.labels:
        checked_text("labels", label)
    for need in job.needs:
        _check_need(need)


def _check_need(need: Need) -> None:
    if isinstance(need, str):
        checked_text("needs", need)
    elif not 1 <= need <= BIGINT_MAX:
        raise InvalidInput("needs", need, "the id of a job")


@dataclass(frozen=True, slots=True)
class _Planned:
    """A new job among those that are enqueued with it, by their places."""

    needs: tuple[int, ...]
    sort_key: SortKey
    is_unfinished: bool = True


def refuse_ring(jobs: Sequence[NewJob]) -> None:
    """Raises InvalidInput, naming the jobs in their circle, if new jobs need each other so.

    Only jobs that are enqueued together can: what is in the queue needs nothing that is new.
    """
    if not any(isinstance(need, str) for job in jobs for need in job.needs):
        return
    places = {job.external_id: place for place, job in enumerate(jobs) if job.external_id}
    graph = {
        place: _Planned(
            needs=tuple(places[need] for need in job.needs if need in places),
            sort_key=SortKey(0, place),
        )
        for place, job in enumerate(jobs)
    }
    ring = find_ring(graph, graph.keys())
    if ring:
        names = [jobs[place].external_id for place in ring]
        raise InvalidInput("needs", spelled_ring(names), "jobs that do not wait for each other")
