"""Holds: an administrator's pause of a session or a guild. Running jobs finish."""

from guildqueue.domain.errors import GuildNotFound, NothingOutstanding
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.ledger import EventType
from guildqueue.domain.principal import Caller
from guildqueue.domain.redaction import redact
from guildqueue.services.record import record_change
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import guilds, jobs, locks, sessions


@decided_in_transaction
def hold_session(session_id: SessionId, *, guild_id: GuildId, reason: str, caller: Caller) -> bool:
    """True if the session was not held before; a repeat changes nothing.

    Raises SessionNotFound, or NothingOutstanding for a finished session.
    """
    locks.lock_order(guild_id)
    facts = sessions.lock_session(guild_id, session_id)
    if not jobs.lock_outstanding(guild_id, session_id) and not facts.recording:
        raise NothingOutstanding("session", session_id)
    by = str(caller.principal)
    if not sessions.hold_session(guild_id, session_id, by=by, reason=redact(reason)):
        return False
    jobs.hold_jobs(guild_id, session_id, held=True)
    changed = {"session_id": str(session_id), "title": facts.title}
    record_change(guild_id, EventType.HELD, caller=caller, reason=reason, changed=changed)
    return True


@decided_in_transaction
def release_session(
    session_id: SessionId, *, guild_id: GuildId, reason: str = "", caller: Caller
) -> bool:
    """True if the session was held before; a repeat changes nothing. Raises SessionNotFound."""
    locks.lock_order(guild_id)
    facts = sessions.lock_session(guild_id, session_id)
    if not sessions.release_session(guild_id, session_id):
        return False
    jobs.lock_outstanding(guild_id, session_id)
    jobs.hold_jobs(guild_id, session_id, held=False)
    changed = {"session_id": str(session_id), "title": facts.title}
    record_change(guild_id, EventType.RELEASED, caller=caller, reason=reason, changed=changed)
    wake_workers()
    return True


@decided_in_transaction
def hold_guild(guild_id: GuildId, *, reason: str, caller: Caller) -> bool:
    """True if the guild was not held before; a repeat changes nothing. Raises GuildNotFound."""
    locks.lock_order(guild_id)
    if not guilds.lock_guild(guild_id):
        raise GuildNotFound(guild_id)
    if not guilds.hold_guild(guild_id, by=str(caller.principal), reason=redact(reason)):
        return False
    changed = {"guild_id": str(guild_id)}
    record_change(guild_id, EventType.HELD, caller=caller, reason=reason, changed=changed)
    return True


@decided_in_transaction
def release_guild(guild_id: GuildId, *, reason: str = "", caller: Caller) -> bool:
    """True if the guild was held before; a repeat changes nothing. Raises GuildNotFound."""
    locks.lock_order(guild_id)
    if not guilds.lock_guild(guild_id):
        raise GuildNotFound(guild_id)
    if not guilds.release_guild(guild_id):
        return False
    changed = {"guild_id": str(guild_id)}
    record_change(guild_id, EventType.RELEASED, caller=caller, reason=reason, changed=changed)
    wake_workers()
    return True
