"""What goes to open pages as HTML: the same fragments that the pages begin with."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC

from django.template.loader import render_to_string
from django.utils import timezone, translation

from console.lane import Board
from console.views.contexts import history_context, queue_context, session_context
from guildqueue.domain.ids import GuildId
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.services.browse import GuildList


def render_queue(board: Board[QueueSnapshot], language: str) -> str:
    """The inside of ``#queue``; the same for every viewer who reads that language."""
    with _spoken(language):
        return render_to_string("guilds/_queue.html", queue_context(board))


def render_history(guild_id: GuildId, records: Sequence[LedgerRecord], language: str) -> str:
    """The inside of ``#history``; the same for every viewer who reads that language."""
    with _spoken(language):
        return render_to_string("guilds/_history.html", history_context(guild_id, records))


def render_guild_list(found: GuildList, language: str) -> str:
    """The inside of ``#guilds``, one user's."""
    with _spoken(language):
        context = {"guilds": found.guilds, "at": timezone.now()}
        return render_to_string("guilds/_list.html", context)


def render_session(board: Board[SessionDetail], language: str) -> str:
    """The inside of ``#session``; the same for every viewer who reads that language."""
    with _spoken(language):
        return render_to_string("sessions/_session.html", session_context(board))


@contextmanager
def _spoken(language: str) -> Iterator[None]:
    # Whoever was served by this thread before left nothing of theirs: both are set here, and
    # times say UTC until the reader's own browser tells them in the reader's zone.
    with translation.override(language), timezone.override(UTC):
        yield
