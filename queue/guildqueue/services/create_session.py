"""Put a meeting in the queue: its people, a job a track, and the document that needs them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from guildqueue.domain.errors import GuildNotFound
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.new_session import NewSession
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import guilds, jobs, locks, orders, sessions
from guildqueue.store.jobs import Placement


class CreatedSession(NamedTuple):
    """``created`` is false where the guild had one of that external id, left unchanged."""

    session_id: SessionId
    created: bool


@decided_in_transaction
def create_session(guild_id: GuildId, *, session: NewSession) -> CreatedSession:
    """The session with that external id, new at the end of the line, or as it was.

    Its jobs are created under the guild's order lock, so that the ids of two sessions do not
    interleave. A session still recording has no document yet. Raises GuildNotFound.
    """
    locks.lock_order(guild_id)
    if guilds.read_guild(guild_id) is None:
        raise GuildNotFound(guild_id)
    session_id, created = sessions.find_or_insert_session(guild_id, session)
    if not created:
        return CreatedSession(session_id, created=False)
    sessions.insert_participants(guild_id, session_id, session.participants)
    number = orders.read_last_number(guild_id)
    placement = Placement(guild_id, session_id, number, False, settings.QUEUE_MAX_ATTEMPTS)
    tracks = jobs.insert_tracks(placement, session.tracks)
    if tracks and not session.recording:
        add_document(placement, session.title, session.started_at, tracks)
    if tracks:
        wake_workers()
    return CreatedSession(session_id, created=True)


def add_document(
    placement: Placement, title: str, started_at: datetime | None, tracks: Sequence[JobId]
) -> JobId:
    """The session's document job, waiting for ``tracks``."""
    payload: dict[str, Any] = {
        "title": title,
        "started_at": started_at.isoformat() if started_at else None,
    }
    document = jobs.insert_document(placement, payload)
    jobs.insert_needs(placement.guild_id, document, tracks)
    return document
