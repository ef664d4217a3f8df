"""Cancel what is outstanding; a running job's lease ends at once."""

from collections.abc import Sequence

from guildqueue.domain.errors import JobNotFound, NothingOutstanding
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.ledger import EventType
from guildqueue.domain.principal import Caller
from guildqueue.services.record import record_change
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import jobs, locks, sessions


@decided_in_transaction
def cancel_session(
    session_id: SessionId, *, guild_id: GuildId, caller: Caller
) -> tuple[JobId, ...]:
    """The jobs that were outstanding and are cancelled now, ascending.

    Raises SessionNotFound, or NothingOutstanding for a finished session.
    """
    locks.lock_order(guild_id)
    title = sessions.lock_session(guild_id, session_id).title
    cancelled = jobs.cancel_jobs(guild_id, jobs.lock_outstanding(guild_id, session_id))
    if not cancelled:
        raise NothingOutstanding("session", session_id)
    _record(guild_id, session_id, title, cancelled, caller)
    return cancelled


@decided_in_transaction
def cancel_job(job_id: JobId, *, guild_id: GuildId, caller: Caller) -> tuple[JobId, ...]:
    """The job, cancelled. Raises JobNotFound, or NothingOutstanding for a finished one."""
    locks.lock_order(guild_id)
    job = jobs.read_job(guild_id, job_id)
    if job is None:
        raise JobNotFound(job_id)
    title = sessions.lock_session(guild_id, job.session_id).title
    jobs.lock_jobs(guild_id, [job_id])
    cancelled = jobs.cancel_jobs(guild_id, [job_id])
    if not cancelled:
        raise NothingOutstanding("job", job_id)
    _record(guild_id, job.session_id, title, cancelled, caller)
    return cancelled


def _record(
    guild_id: GuildId,
    session_id: SessionId,
    title: str,
    cancelled: Sequence[JobId],
    caller: Caller,
) -> None:
    changed = {
        "session_id": str(session_id),
        "title": title,
        "jobs": [str(job_id) for job_id in cancelled],
    }
    record_change(guild_id, EventType.CANCELLED, caller=caller, changed=changed)
