"""Leave a track that cannot be transcribed out of its session's document."""

from guildqueue.domain.errors import JobNotFound, NothingToRequeue
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import JobState
from guildqueue.domain.ledger import EventType
from guildqueue.domain.principal import Caller
from guildqueue.services.record import record_change
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import jobs, locks, sessions

DROPPABLE = frozenset({JobState.DEAD, JobState.CANCELLED})


@decided_in_transaction
def drop_track(job_id: JobId, *, guild_id: GuildId, caller: Caller) -> bool:
    """True if a document waited for the track and no longer does.

    Raises JobNotFound, or NothingToRequeue for a track that may still finish.
    """
    locks.lock_order(guild_id)
    locks.lock_needs(guild_id)
    job = jobs.read_job(guild_id, job_id)
    if job is None:
        raise JobNotFound(job_id)
    facts = sessions.lock_session(guild_id, job.session_id)
    if job.state not in DROPPABLE:
        raise NothingToRequeue("job", job_id)
    waiting = jobs.read_dependents(guild_id, [job_id]).waiting
    jobs.lock_jobs(guild_id, waiting)
    if not jobs.delete_need(guild_id, waiting, job_id):
        return False
    changed = {
        "session_id": str(job.session_id),
        "title": facts.title,
        "job_id": str(job_id),
        "track": job.name,
    }
    record_change(guild_id, EventType.TRACK_DROPPED, caller=caller, changed=changed)
    wake_workers()
    return True
