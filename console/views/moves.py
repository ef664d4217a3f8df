"""A move of one session: the form that names a neighbour, and the move itself."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from console.access import administered_session, caller_of
from console.forms import parse_place_number, parse_to
from console.views import outcomes
from console.views.answers import see_back
from console.views.asking import asking
from console.views.pages import guild_page
from console.views.refusals import says_refusals
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.browse import session_detail, session_title
from guildqueue.services.move import move_session
from guildqueue.services.read_order import waiting_line
from guildqueue.services.snapshot import queue_snapshot

SELECT_UP_TO = 100


@guild_page
@require_http_methods(["GET", "HEAD", "POST"])
@says_refusals("moved")
def move(request: HttpRequest, session_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    if request.method != "POST":
        return _form(request, guild_id, SessionId(session_id))
    moved = SessionId(session_id)
    number = parse_place_number(request.POST)
    place, neighbour = (
        parse_to(request.POST, moved) if number is None else _behind(guild_id, number, moved)
    )
    outcome = move_session(
        moved, guild_id=guild_id, place=place, neighbour=neighbour, caller=caller_of(request)
    )
    words = outcomes.undone if "undo" in request.POST else outcomes.moved
    say = messages.success if outcome.changed else messages.info
    say(request, words(session_title(moved, guild_id=guild_id), outcome))
    return see_back(request, guild_id, moved)


def _form(request: HttpRequest, guild_id: GuildId, session_id: SessionId) -> HttpResponse:
    snapshot = queue_snapshot(guild_id)
    others = [e for e in snapshot.sessions if e.is_movable and e.session_id != session_id]
    is_short = not snapshot.more and len(others) <= SELECT_UP_TO
    context = {
        "snapshot": snapshot,
        "others": others if is_short else [],
        "is_short": is_short,
    }
    detail = session_detail(session_id)
    return render(request, "sessions/move.html", asking(request, detail, **context))


def _behind(guild_id: GuildId, number: int, moved: SessionId) -> tuple[Place, SessionId | None]:
    """The move behind whatever stands at ``number`` in line; raises InvalidInput if none does.

    Where ``moved`` itself stands there, it stays: behind the one before it.
    """
    line = waiting_line(guild_id)
    if number > len(line):
        raise InvalidInput("number", number, f"a place in line, which has {len(line)}")
    if line[number - 1] != moved:
        return Place.AFTER, line[number - 1]
    return (Place.AFTER, line[number - 2]) if number > 1 else (Place.FIRST, None)
