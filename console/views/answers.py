"""How a page's form is answered: the queue as it is, or the way back to where it was sent."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from console.forms import parse_after
from console.views.queue_rows import queue_page, quick_actions
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.snapshot import queue_snapshot


def queue_response(
    request: HttpRequest, guild_id: GuildId, *, after: SessionId | None = None, status: int = 200
) -> HttpResponse:
    """The queue as it is now: the page, or its live inside alone for htmx."""
    snapshot = queue_snapshot(guild_id, after=after)
    context = {
        "snapshot": snapshot,
        "guild": {"id": guild_id, "name": snapshot.guild_name},
        "page": queue_page(snapshot, after=after),
        "rules": quick_actions(snapshot),
        "after": after,
    }
    is_fragment = request.htmx  # type: ignore[attr-defined]
    template = "guilds/_queue.html" if is_fragment else "guilds/queue.html"
    return render(request, template, context, status=status)


def see_queue(
    guild_id: GuildId, *, after: SessionId | None = None, session_id: SessionId | None = None
) -> HttpResponse:
    """303 to the queue, to the page behind ``after``, at the row of ``session_id``."""
    page = "" if after is None else f"?after={after}"
    row = "" if session_id is None else f"#s-{session_id}"
    return _see(f"{reverse('guild-queue-show', args=(guild_id,))}{page}{row}")


def see_session(session_id: SessionId | int) -> HttpResponse:
    """303 to the session's own page."""
    return _see(reverse("session-show", args=(session_id,)))


def see_back(request: HttpRequest, guild_id: GuildId, session_id: SessionId) -> HttpResponse:
    """303 to the page that the change was asked on: the session's own, else the queue's."""
    if request.POST.get("back") == "session":
        return see_session(session_id)
    try:
        after = parse_after(request.POST)
    except InvalidInput:
        after = None
    return see_queue(guild_id, after=after, session_id=session_id)


def _see(address: str) -> HttpResponse:
    return HttpResponseRedirect(address, status=303)
