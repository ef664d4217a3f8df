"""Meetings: their own facts, their people, who moved or holds them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from guildqueue.domain.errors import SessionNotFound
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_session import NewParticipant, NewSession
from guildqueue.store.statements import execute, row, rows


class SessionFacts(NamedTuple):
    """What decides how a job of the session is written."""

    title: str
    recording: bool
    is_held: bool


def find_or_insert_session(guild_id: GuildId, session: NewSession) -> tuple[SessionId, bool]:
    """The id of the session with that external id, and whether it is new."""
    params = {
        "guild_id": guild_id,
        "external_id": session.external_id,
        "title": session.title,
        "recording": session.recording,
        "started_at": session.started_at,
    }
    named = {"guild_id": guild_id, "external_id": session.external_id}
    while True:
        if found := row("insert_session", params):
            return SessionId(found.id), True
        if known := row("find_session", named):
            return SessionId(known.id), False
        # What stood in the way was pruned between the two.


def insert_participants(
    guild_id: GuildId, session_id: SessionId, people: Sequence[NewParticipant]
) -> None:
    """The people who were there, in the order given."""
    execute(
        "insert_participants",
        {
            "guild_id": guild_id,
            "session_id": session_id,
            "names": [person.name for person in people],
            "user_ids": [person.user_id for person in people],
        },
    )


def read_participants(guild_id: GuildId, session_id: SessionId) -> tuple[NewParticipant, ...]:
    """The people who were there."""
    found = rows("read_participants", {"guild_id": guild_id, "session_id": session_id})
    return tuple(NewParticipant(name=person.name, user_id=person.user_id) for person in found)


def read_external_id(guild_id: GuildId, session_id: SessionId) -> str | None:
    """What the outside calls the session."""
    found = row("read_external_id", {"guild_id": guild_id, "session_id": session_id})
    return found.external_id if found else None


def read_started_at(guild_id: GuildId, session_id: SessionId) -> datetime | None:
    """When the meeting began."""
    found = row("read_started_at", {"guild_id": guild_id, "session_id": session_id})
    return found.started_at if found else None


def lock_session(guild_id: GuildId, session_id: SessionId) -> SessionFacts:
    """The session's facts, its row locked. Raises SessionNotFound."""
    found = row("lock_session", {"guild_id": guild_id, "session_id": session_id})
    if found is None:
        raise SessionNotFound(session_id)
    return SessionFacts(found.title, found.recording, found.is_held)


def session_guild(session_id: SessionId) -> GuildId:
    """The session's guild. Raises SessionNotFound."""
    found = row("read_session_guild", {"session_id": session_id})
    if found is None:
        raise SessionNotFound(session_id)
    return GuildId(found.guild_id)


def read_titles(guild_id: GuildId, session_ids: Collection[SessionId]) -> Mapping[SessionId, str]:
    """Titles by session; one that is not the guild's is left out."""
    found = rows("read_titles", {"guild_id": guild_id, "session_ids": list(session_ids)})
    return {SessionId(session.id): session.title for session in found}


def mark_recording(guild_id: GuildId, session_id: SessionId, recording: bool) -> None:
    """Whether more tracks are to come."""
    execute(
        "mark_recording",
        {"guild_id": guild_id, "session_id": session_id, "recording": recording},
    )


def mark_moved(
    guild_id: GuildId, session_ids: Collection[SessionId], *, by: str, place: str
) -> None:
    """Who moved the sessions last, and where to."""
    execute(
        "mark_moved",
        {"guild_id": guild_id, "session_ids": list(session_ids), "by": by, "place": place},
    )


def hold_session(guild_id: GuildId, session_id: SessionId, *, by: str, reason: str) -> bool:
    """True if the session was not held before."""
    return bool(
        rows(
            "hold_session",
            {"guild_id": guild_id, "session_id": session_id, "by": by, "reason": reason},
        )
    )


def release_session(guild_id: GuildId, session_id: SessionId) -> bool:
    """True if the session was held before."""
    return bool(rows("release_session", {"guild_id": guild_id, "session_id": session_id}))
