"""How a page's form is answered: the list as it is now for a script, else the way back to it."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from console.forms import parse_after
from console.lane import queue_board, session_board
from console.views.contexts import queue_context, session_context
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.browse import session_detail
from guildqueue.services.snapshot import queue_snapshot


def queue_response(
    request: HttpRequest, guild_id: GuildId, *, after: SessionId | None = None, status: int = 200
) -> HttpResponse:
    """The queue as it is now: the page, or its live inside alone for htmx."""
    board = queue_board(queue_snapshot(guild_id, after=after))
    context = queue_context(board, after=after)
    if is_scripted(request):
        return _fragment(request, "guilds/_queue.html", context, board.version, status)
    context |= {"version": board.version}
    context |= {"guild": {"id": guild_id, "name": board.shown.guild_name}}
    return render(request, "guilds/queue.html", context, status=status)


def session_response(
    request: HttpRequest, session_id: SessionId, *, status: int = 200
) -> HttpResponse:
    """One meeting as it is now: the page, or its live inside alone for htmx."""
    board = session_board(session_detail(session_id))
    context = session_context(board)
    if is_scripted(request):
        return _fragment(request, "sessions/_session.html", context, board.version, status)
    context |= {"version": board.version}
    return render(request, "sessions/show.html", context, status=status)


def see_queue(
    request: HttpRequest,
    guild_id: GuildId,
    *,
    after: SessionId | None = None,
    session_id: SessionId | None = None,
) -> HttpResponse:
    """The way to the queue, to the page behind ``after``, at the row of ``session_id``."""
    if is_scripted(request):
        return _queue_from(request, guild_id, after)
    page = "" if after is None else f"?after={after}"
    row = "" if session_id is None else f"#s-{session_id}"
    return _see(f"{reverse('guild-queue-show', args=(guild_id,))}{page}{row}")


def see_session(request: HttpRequest, session_id: SessionId) -> HttpResponse:
    """The way to the session's own page."""
    if is_scripted(request):
        return session_response(request, session_id)
    return _see(reverse("session-show", args=(session_id,)))


def see_back(request: HttpRequest, guild_id: GuildId, session_id: SessionId) -> HttpResponse:
    """The way to the page that the change was asked on: the session's own, else the queue's."""
    if asked_on_session(request):
        return see_session(request, session_id)
    try:
        after = parse_after(request.POST)
    except InvalidInput:
        after = None
    return see_queue(request, guild_id, after=after, session_id=session_id)


def is_scripted(request: HttpRequest) -> bool:
    """Whether a script of the page asks, and wants a fragment."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def asked_on_session(request: HttpRequest) -> bool:
    return request.POST.get("back") == "session"


def _queue_from(request: HttpRequest, guild_id: GuildId, after: SessionId | None) -> HttpResponse:
    try:
        return queue_response(request, guild_id, after=after)
    except InvalidInput:  # the session that the page started behind has left
        return queue_response(request, guild_id)


def _fragment(
    request: HttpRequest, template: str, context: Mapping[str, Any], version: str, status: int
) -> HttpResponse:
    """The inside of a live region, with its version and what there is to say in a header."""
    response = render(request, template, dict(context), status=status)
    said = [{"text": str(m), "tone": m.level_tag} for m in get_messages(request)]
    answer = {"version": version, "said": said}
    response["HX-Trigger"] = json.dumps({"queue:answer": answer})
    return response


def _see(address: str) -> HttpResponse:
    return HttpResponseRedirect(address, status=303)
