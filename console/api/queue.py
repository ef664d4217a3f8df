"""A guild's queue: the snapshot, moves and quick actions."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from console.api.answers import answer, decision
from console.api.auth import caller_of, guild_of, session_guild_of
from console.api.schemas import REFUSALS, Decision, Id, Move, PathId, Rule, Snapshot
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import SessionId
from guildqueue.domain.moves import check_move, parse_neighbour
from guildqueue.domain.token import Verb
from guildqueue.domain.wire import snapshot_body
from guildqueue.services import apply_rule as rules
from guildqueue.services import move as moves
from guildqueue.services.snapshot import queue_snapshot

router = Router(tags=["queue"])
QUEUE = "/guilds/{bigid:guild_id}/queue"
MOVE = "/sessions/{bigid:session_id}/queue/priority"
READING = {200: Snapshot, **REFUSALS}
DECIDING = {200: Decision, 409: Decision, **REFUSALS}


@router.get(QUEUE, response=READING, url_name="api-queue-show")
def show_queue(request: HttpRequest, guild_id: PathId, after: Id | None = None) -> HttpResponse:
    """The queue in claim order, at most 200 sessions, then the newest 50 that are finished.

    `more` says how many follow; `?after=` with the last session's id gives the next page, without
    finished ones. A session that has left the queue meanwhile is a 400: begin at the front again.
    """
    guild = guild_of(request, guild_id, Verb.READ)
    return answer(snapshot_body(queue_snapshot(guild.id, after=_parse_after(after))))


@router.post(MOVE, response=DECIDING, url_name="api-session-move")
def move_session(request: HttpRequest, session_id: PathId, wanted: Move) -> HttpResponse:
    """Put a session first, last, before or after another one of its guild's queue."""
    guild_id = session_guild_of(request, session_id, Verb.MOVE)
    moved = SessionId(session_id)
    place, neighbour = check_move(wanted.place, moved=moved, neighbour=wanted.session)
    caller = caller_of(request)
    return decision(
        guild_id,
        lambda: moves.move_session(
            moved, guild_id=guild_id, place=place, neighbour=neighbour, caller=caller
        ),
    )


@router.post(f"{QUEUE}/priority", response=DECIDING, url_name="api-guild-rule")
def apply_rule(request: HttpRequest, guild_id: PathId, wanted: Rule) -> HttpResponse:
    """Order the whole queue by a quick action."""
    guild = guild_of(request, guild_id, Verb.MOVE)
    caller = caller_of(request)
    return decision(guild.id, lambda: rules.apply_rule(guild.id, rule=wanted.rule, caller=caller))


@router.post(f"{QUEUE}/priority/preview", response=DECIDING, url_name="api-guild-rule-preview")
def preview_rule(request: HttpRequest, guild_id: PathId, wanted: Rule) -> HttpResponse:
    """The order that a quick action would give, and what it would write; nothing is written."""
    guild = guild_of(request, guild_id, Verb.READ)
    return decision(guild.id, lambda: rules.preview_rule(guild.id, rule=wanted.rule))


def _parse_after(value: str | None) -> SessionId | None:
    if value is None:
        return None
    try:
        return parse_neighbour(value)
    except InvalidInput as error:
        raise InvalidInput("after", value, error.allowed) from error
