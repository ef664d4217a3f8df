"""The one reading path of a guild's queue, for pages, streams, JSON and the command line."""

from dataclasses import replace

from django.conf import settings

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.domain.version import version_of
from guildqueue.store import snapshots

SESSIONS_A_PAGE = 200
FINISHED_SHOWN = 50
EVENTS_SHOWN = 6


def queue_snapshot(guild_id: GuildId, *, after: SessionId | None = None) -> QueueSnapshot:
    """The first 200 outstanding sessions, or those after ``after``, and the newest 50 finished.

    Finished ones come with the first page only, the ledger's newest few with each. The digest in
    ``version`` covers what a reader sees, so two snapshots that show the same have the same one.
    Raises GuildNotFound, or InvalidInput if ``after`` is not in the queue.
    """
    number, snapshot = snapshots.read_snapshot(
        guild_id,
        after=after,
        upto=snapshots.Extent(SESSIONS_A_PAGE, FINISHED_SHOWN, EVENTS_SHOWN),
        default_cap=settings.QUEUE_RUNNING_CAP,
    )
    # The moment itself is left out: it changes with every look.
    shown = replace(snapshot, at=snapshot.at.min)
    return replace(snapshot, version=version_of(number, shown))
