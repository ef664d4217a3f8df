"""Requeue: what died, was cancelled or should be done again goes back in line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guildqueue.domain.errors import JobNotFound, NothingToRequeue
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import OUTSTANDING, Job, JobState
from guildqueue.domain.ledger import EventType
from guildqueue.domain.principal import Caller
from guildqueue.services.record import record_change
from guildqueue.services.reopen import reopen_jobs
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import jobs, locks, sessions

FAILED = frozenset({JobState.DEAD, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Requeued:
    """The jobs that are pending again, ascending, and what a record says of it."""

    jobs: tuple[JobId, ...]
    changed: Mapping[str, Any]


@decided_in_transaction
def requeue_session(
    session_id: SessionId, *, guild_id: GuildId, caller: Caller
) -> tuple[JobId, ...]:
    """The jobs that are pending again, ascending.

    Those are the dead and cancelled ones and what needs them; where there are none and nothing is
    outstanding, all jobs of the session. Each takes its own session's number and keeps
    its measured length. Raises SessionNotFound or NothingToRequeue.
    """
    locks.lock_order(guild_id)
    return _recorded(guild_id, reopen_session(guild_id, session_id), caller)


@decided_in_transaction
def requeue_job(job_id: JobId, *, guild_id: GuildId, caller: Caller) -> tuple[JobId, ...]:
    """The job and what needs it, pending again. Raises JobNotFound or NothingToRequeue."""
    locks.lock_order(guild_id)
    return _recorded(guild_id, reopen_job(guild_id, job_id), caller)


def reopen_session(guild_id: GuildId, session_id: SessionId) -> Requeued:
    """As requeue_session, in the caller's transaction, which holds the order lock and records."""
    locks.lock_needs(guild_id)
    facts = sessions.lock_session(guild_id, session_id)
    targets = _targets(jobs.read_session_jobs(guild_id, session_id))
    if not targets:
        raise NothingToRequeue("session", session_id)
    return _reopen(guild_id, session_id, facts, targets)


def reopen_job(guild_id: GuildId, job_id: JobId) -> Requeued:
    """As requeue_job, in the caller's transaction, which holds the order lock and records."""
    locks.lock_needs(guild_id)
    job = jobs.read_job(guild_id, job_id)
    if job is None:
        raise JobNotFound(job_id)
    facts = sessions.lock_session(guild_id, job.session_id)
    if job.state in OUTSTANDING:
        raise NothingToRequeue("job", job_id)
    return _reopen(guild_id, job.session_id, facts, [job_id])


def _recorded(guild_id: GuildId, done: Requeued, caller: Caller) -> tuple[JobId, ...]:
    record_change(guild_id, EventType.REQUEUED, caller=caller, changed=done.changed)
    return done.jobs


def _targets(session_jobs: Sequence[Job]) -> list[JobId]:
    failed = [job.id for job in session_jobs if job.state in FAILED]
    if failed or any(job.state in OUTSTANDING for job in session_jobs):
        return failed
    return [job.id for job in session_jobs if job.state == JobState.DONE]


def _reopen(
    guild_id: GuildId,
    session_id: SessionId,
    facts: sessions.SessionFacts,
    targets: Sequence[JobId],
) -> Requeued:
    reopened = reopen_jobs(guild_id, targets)
    wake_workers()
    changed = {
        "session_id": str(session_id),
        "title": facts.title,
        "jobs": [str(job_id) for job_id in reopened],
    }
    return Requeued(reopened, changed)
