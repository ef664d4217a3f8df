"""Where a change of one session ends: back where it was asked, or refused with a fresh page."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from console.access import administered_session
from console.views import outcomes
from console.views.guilds import queue_response, see_queue
from guildqueue.domain.errors import RequestRefused
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.browse import session_detail

SessionView = Callable[..., HttpResponse]


def says_refusals(verb: str) -> Callable[[SessionView], SessionView]:
    """Answer a refusal with 409, why in one sentence, and the queue as it is now."""

    def decorate(view: SessionView) -> SessionView:
        @wraps(view)
        def wrapped(request: HttpRequest, session_id: int, **more: Any) -> HttpResponse:
            try:
                return view(request, session_id=session_id, **more)
            except RequestRefused as error:
                guild_id = administered_session(request, session_id)
                title = session_detail(SessionId(session_id)).entry.title
                sentence = outcomes.refused(verb, error, title, moved_id=session_id)
                messages.error(request, sentence)
                return queue_response(request, guild_id, status=409)

        return wrapped

    return decorate


def see_back(request: HttpRequest, guild_id: GuildId, session_id: SessionId) -> HttpResponse:
    """303 to the page that the change was asked on: the session's own, else the queue."""
    if request.POST.get("back") != "session":
        return see_queue(guild_id, session_id=session_id)
    response = redirect("session-show", session_id)
    response.status_code = 303
    return response
