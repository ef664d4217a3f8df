"""Sessions that ended long ago, with the files that they left."""

from pathlib import Path

from django.conf import settings

from guildqueue.domain.ids import GuildId, SessionId
from tests.builders import cancelled_session, done_session
from tests.db.races import query
from tests.db.stored import write


def age(session_id: SessionId, *, days: int = 40) -> SessionId:
    """The session, whose ended jobs ended so many days ago."""
    write(
        "UPDATE guildqueue_job SET finished_at = now() - make_interval(days => %s)"
        " WHERE session_id = %s AND finished_at IS NOT NULL",
        days,
        session_id,
    )
    return session_id


def old_session(guild_id: GuildId, *, days: int = 40, n_tracks: int = 1) -> SessionId:
    """A meeting of which everything was done so many days ago."""
    return age(done_session(guild_id, n_tracks=n_tracks), days=days)


def old_cancelled(guild_id: GuildId) -> SessionId:
    """A meeting that was cancelled 40 days ago; cheap to make."""
    return age(cancelled_session(guild_id))


def sessions() -> list[SessionId]:
    """All that is stored, ascending."""
    return [SessionId(row[0]) for row in query("SELECT id FROM guildqueue_session ORDER BY id")]


def left_file(name: str, *, session_id: SessionId | None = None) -> Path:
    """A file below the media folder; the result of the session's first job names it."""
    path = Path(settings.MEDIA_ROOT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    if session_id is not None:
        write(
            "UPDATE guildqueue_job SET result = jsonb_build_object('path', %s::text)"
            " WHERE id = (SELECT min(id) FROM guildqueue_job WHERE session_id = %s)",
            name,
            session_id,
        )
    return path
