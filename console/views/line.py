"""A guild's whole line, however many pages it has."""

from collections.abc import Iterator

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.snapshot import SessionEntry
from guildqueue.services.snapshot import queue_snapshot


def whole_line(guild_id: GuildId) -> Iterator[SessionEntry]:
    """The sessions with something outstanding, in claim order; a page is read when it is reached.

    One snapshot for 200 sessions: for what a person asks once, not for what every page shows.
    """
    after: SessionId | None = None
    while True:
        snapshot = queue_snapshot(guild_id, after=after)
        yield from snapshot.sessions
        if not snapshot.more or not snapshot.sessions:
            return
        after = snapshot.sessions[-1].session_id
