"""Run next and Take back: a meeting into the lane and out of it, asked for by the console."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from console.access import administered_session, caller_of
from console.api.problems import LANE_STATUS
from console.forms import LaneForm
from console.lane import console_asker, session_board
from console.views import outcomes
from console.views.answers import (
    asked_on_session,
    is_scripted,
    queue_response,
    see_back,
    session_response,
)
from console.views.asking import asking
from console.views.consequences import bumping, unbumping
from console.views.pages import guild_page
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import SessionEntry
from guildqueue.services.browse import session_detail
from guildqueue.services.bump import bump_session
from guildqueue.services.unbump import unbump_session

ASK_AND_ACT = require_http_methods(["GET", "HEAD", "POST"])


@guild_page
@ASK_AND_ACT
def bump(request: HttpRequest, session_id: int) -> HttpResponse:
    return _asked(request, session_id, "bump")


@guild_page
@ASK_AND_ACT
def unbump(request: HttpRequest, session_id: int) -> HttpResponse:
    return _asked(request, session_id, "unbump")


def _asked(request: HttpRequest, session_id: int, verb: str) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    form = LaneForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        outcome = _request(request, guild_id, detail, verb, form.cleaned_data["reason"])
        return _told(request, guild_id, detail.entry, verb, outcome)
    status = 422 if request.method == "POST" else 200
    board = session_board(detail)
    consequence = CONSEQUENCES[verb](detail.entry) if board.lane_open else ""
    facts = {"form": form, "consequence": consequence, "lane_open": board.lane_open}
    template = f"sessions/{verb}.html"
    return render(request, template, asking(request, detail, **facts), status=status)


def _request(
    request: HttpRequest, guild_id: GuildId, detail: SessionDetail, verb: str, reason: str
) -> LaneOutcome:
    """Judged by the queue itself, whatever the page showed, and on record whatever it says."""
    caller = caller_of(request)
    return REQUESTS[verb](
        detail.entry.session_id,
        guild_id=guild_id,
        asker=console_asker(caller.principal),
        reason=reason,
        correlation_id=caller.correlation_id,
    )


def _told(
    request: HttpRequest, guild_id: GuildId, entry: SessionEntry, verb: str, outcome: LaneOutcome
) -> HttpResponse:
    """What came of it in one sentence, and the page as it is now."""
    if outcome.refusal is not None:
        messages.error(request, outcomes.lane_refused(verb, outcome.refusal, entry.title))
        return _refused(request, guild_id, entry.session_id, outcome.refusal)
    is_done = bool(outcome.removed if verb == "unbump" else outcome.moved)
    say = messages.success if is_done else messages.info
    say(request, OUTCOMES[verb](entry, outcome))
    return see_back(request, guild_id, entry.session_id)


def _refused(
    request: HttpRequest, guild_id: GuildId, session_id: SessionId, refusal: LaneRefusal
) -> HttpResponse:
    status = LANE_STATUS[refusal]
    if asked_on_session(request) and is_scripted(request):
        return session_response(request, session_id, status=status)
    return queue_response(request, guild_id, status=status)


CONSEQUENCES: dict[str, Callable[[SessionEntry], str]] = {"bump": bumping, "unbump": unbumping}
REQUESTS: dict[str, Callable[..., LaneOutcome]] = {"bump": bump_session, "unbump": unbump_session}
OUTCOMES: dict[str, Callable[[SessionEntry, LaneOutcome], str]] = {
    "bump": outcomes.bumped,
    "unbump": outcomes.unbumped,
}
