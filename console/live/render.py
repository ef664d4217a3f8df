"""What goes to open pages as HTML: the same fragments that the pages begin with."""

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
    page, rules = queue_page(snapshot), quick_actions(snapshot)
    context = {"snapshot": snapshot, "page": page, "rules": rules, "after": None}
    return _render("guilds/_queue.html", context, language)


def render_guild_list(found: GuildList, language: str) -> str:
    """The inside of ``#guilds``, one user's."""
    context = {"guilds": found.guilds, "at": timezone.now()}
    return _render("guilds/_list.html", context, language)


def render_session(detail: SessionDetail, language: str) -> str:
    """The inside of ``#session``; the same for every viewer who reads that language."""
    context = {"detail": detail, "entry": detail.entry, "meeting": meeting(detail)}
    return _render(
        "sessions/_session.html", context | {"at": timezone.now(), "back": "session"}, language
    )


def _render(template: str, context: dict[str, object], language: str) -> str:
    # Whoever was served by this thread before left nothing of theirs: both are set here, and
    # times say UTC until the reader's own browser tells them in the reader's zone.
    with translation.override(language), timezone.override(UTC):
        return render_to_string(template, context)
