"""What goes to open pages as HTML: the same fragments that the pages begin with."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC

from django.template.loader import render_to_string
from django.utils import timezone, translation

from console.views.meeting import meeting
from console.views.queue_rows import queue_page, quick_actions
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.services.browse import GuildList


def render_queue(snapshot: QueueSnapshot, language: str) -> str:
    """The inside of ``#queue``; the same for every viewer who reads that language."""
    with _spoken(language):
        page, rules = queue_page(snapshot), quick_actions(snapshot)
        context = {"snapshot": snapshot, "page": page, "rules": rules, "after": None}
        return render_to_string("guilds/_queue.html", context)


def render_guild_list(found: GuildList, language: str) -> str:
    """The inside of ``#guilds``, one user's."""
    with _spoken(language):
        context = {"guilds": found.guilds, "at": timezone.now()}
        return render_to_string("guilds/_list.html", context)


def render_session(detail: SessionDetail, language: str) -> str:
    """The inside of ``#session``; the same for every viewer who reads that language."""
    with _spoken(language):
        context = {"detail": detail, "entry": detail.entry, "meeting": meeting(detail)}
        context |= {"at": timezone.now(), "back": "session"}
        return render_to_string("sessions/_session.html", context)


@contextmanager
def _spoken(language: str) -> Iterator[None]:
    # Whoever was served by this thread before left nothing of theirs: both are set here, and
    # times say UTC until the reader's own browser tells them in the reader's zone.
    with translation.override(language), timezone.override(UTC):
        yield
