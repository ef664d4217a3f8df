"""Enqueue: jobs, one or a hundred thousand, into sessions that are there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings

from guildqueue.domain.errors import GuildNotFound, InvalidInput, SessionNotFound
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import JobState
from guildqueue.domain.new_job import Need, NewJob, check_new_job, refuse_ring
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import guilds, locks, new_jobs
from guildqueue.store.new_jobs import NO_LABELS, JobRow, KnownJob, NeedRow, SessionPlace


class EnqueuedJob(NamedTuple):
    """``created`` is false where the guild had one of that external id, left unchanged."""

    job_id: JobId
    created: bool


class _Fresh(NamedTuple):
    """A job that is to be written, with the distinct jobs that it needs."""

    job_id: JobId
    job: NewJob
    needs: Sequence[KnownJob]

    @property
    def n_unmet(self) -> int:
        return sum(needed.state != JobState.DONE for needed in self.needs) if self.needs else 0


@decided_in_transaction
def enqueue_jobs(guild_id: GuildId, *, jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
    """One answer a job, in the order given; new ids rise in it.

    A job takes its session's number and hold. An external id that the guild has, or that came
    earlier among ``jobs``, changes nothing. A needed job that is dead or cancelled is
    admitted: what needs it waits until somebody requeues it. All or nothing is written.

    Locks: the guild's order lock, its needs lock where a job needs others, the sessions.
    Raises GuildNotFound, SessionNotFound, or InvalidInput, also for a job needed that is not the
    guild's and for jobs that need each other in a circle.
    """
    for job in jobs:
        check_new_job(job)
    locks.lock_order(guild_id)
    if guilds.read_guild(guild_id) is None:
        raise GuildNotFound(guild_id)
    if any(job.needs for job in jobs):
        locks.lock_needs(guild_id)
    known = new_jobs.find_external(guild_id, _external_ids(jobs))
    new = list(_first_ones(jobs, known))
    refuse_ring(new)
    places = _places(guild_id, new)
    fresh = _with_needs(guild_id, new, known)
    _write(guild_id, fresh, places)
    if fresh:
        wake_workers()
    return _answers(jobs, known, fresh)


def _external_ids(jobs: Sequence[NewJob]) -> set[str]:
    named = {job.external_id for job in jobs if job.external_id is not None}
    return named.union(need for job in jobs for need in job.needs if isinstance(need, str))


def _first_ones(jobs: Sequence[NewJob], known: Mapping[str, KnownJob]) -> Iterator[NewJob]:
    """The jobs that are not there yet, each external id once."""
    seen = set(known)
    for job in jobs:
        if job.external_id is None:
            yield job
        elif job.external_id not in seen:
            seen.add(job.external_id)
            yield job


def _places(guild_id: GuildId, new: Sequence[NewJob]) -> dict[SessionId, SessionPlace]:
    wanted = {job.session_id for job in new}
    places = new_jobs.lock_places(guild_id, wanted)
    for session_id in wanted:
        if session_id not in places:
            raise SessionNotFound(session_id)
    return places


def _with_needs(
    guild_id: GuildId, new: Sequence[NewJob], known: Mapping[str, KnownJob]
) -> list[_Fresh]:
    """The new jobs with their ids and what they need. Raises InvalidInput for an unknown need."""
    ids = new_jobs.draw_ids(len(new))
    wanted = {need for job in new for need in job.needs if not isinstance(need, str)}
    by_id = new_jobs.find_needed(guild_id, wanted)
    by_name = dict(known)
    for job_id, job in zip(ids, new, strict=True):
        if job.external_id is not None:
            by_name[job.external_id] = KnownJob(job_id, JobState.PENDING)

    def found(need: Need) -> KnownJob:
        needed = by_name.get(need) if isinstance(need, str) else by_id.get(need)
        if needed is None:
            raise InvalidInput("needs", need, "a job of the guild")
        return needed

    return [
        _Fresh(job_id, job, list(dict.fromkeys(map(found, job.needs))) if job.needs else ())
        for job_id, job in zip(ids, new, strict=True)
    ]


def _write(
    guild_id: GuildId, fresh: Sequence[_Fresh], places: Mapping[SessionId, SessionPlace]
) -> None:
    if not fresh:
        return
    max_attempts = settings.QUEUE_MAX_ATTEMPTS
    new_jobs.copy_jobs(
        _row(guild_id, new, places[new.job.session_id], max_attempts) for new in fresh
    )
    needs = [NeedRow(guild_id, new.job_id, needed.job_id) for new in fresh for needed in new.needs]
    if needs:
        new_jobs.copy_needs(needs)


def _row(guild_id: GuildId, new: _Fresh, place: SessionPlace, max_attempts: int) -> JobRow:
    # By position: with names, a hundred thousand rows took a quarter longer.
    job = new.job
    return JobRow(
        new.job_id,
        guild_id,
        job.session_id,
        job.kind,
        job.assignee_kind,
        place.priority,
        place.held,
        new.n_unmet,
        new_jobs.payload_json(job.payload),
        list(dict.fromkeys(job.labels)) if job.labels else NO_LABELS,
        job.run_after,
        job.external_id,
        job.audio_seconds,
        max_attempts,
    )


def _answers(
    jobs: Sequence[NewJob], known: Mapping[str, KnownJob], fresh: Sequence[_Fresh]
) -> list[EnqueuedJob]:
    written = iter(fresh)
    ids = {external_id: job.job_id for external_id, job in known.items()}
    answers = []
    for job in jobs:
        if job.external_id is not None and job.external_id in ids:
            answers.append(EnqueuedJob(ids[job.external_id], created=False))
            continue
        job_id = next(written).job_id
        if job.external_id is not None:
            ids[job.external_id] = job_id
        answers.append(EnqueuedJob(job_id, created=True))
    return answers
