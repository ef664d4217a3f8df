"""What the queue refuses, answered with 409, why in one sentence, and the queue as it is now."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from console.access import administered_guild, administered_session
from console.views import outcomes
from console.views.answers import (
    asked_on_session,
    is_scripted,
    queue_response,
    session_response,
)
from guildqueue.domain.errors import RequestRefused
from guildqueue.domain.ids import SessionId
from guildqueue.services.browse import session_detail

View = Callable[..., HttpResponse]


def says_refusals(verb: str) -> Callable[[View], View]:
    """For a view of one session: ``verb`` is what was not done, as in "Not moved"."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, session_id: int, **more: Any) -> HttpResponse:
            try:
                return view(request, session_id=session_id, **more)
            except RequestRefused as error:
                guild_id = administered_session(request, session_id)
                title = session_detail(SessionId(session_id)).entry.title
                sentence = outcomes.refused(verb, error, title, moved_id=session_id)
                messages.error(request, sentence)
                if asked_on_session(request) and is_scripted(request):
                    return session_response(request, SessionId(session_id), status=409)
                return queue_response(request, guild_id, status=409)

        return wrapped

    return decorate


def says_guild_refusals(verb: str) -> Callable[[View], View]:
    """For a view of a whole guild."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: HttpRequest, guild_id: int, **more: Any) -> HttpResponse:
            try:
                return view(request, guild_id=guild_id, **more)
            except RequestRefused as error:
                guild = administered_guild(request, guild_id)
                messages.error(request, outcomes.refused(verb, error, guild.name))
                return queue_response(request, guild.id, status=409)

        return wrapped

    return decorate
