"""The ledger of a guild over HTTP."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from console.api.answers import answer
from console.api.auth import guild_of
from console.api.schemas import REFUSALS, Events, Id, PathId
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import EventId
from guildqueue.domain.moves import parse_neighbour
from guildqueue.domain.token import Verb
from guildqueue.domain.wire import events_body
from guildqueue.services.browse import EVENTS_A_PAGE, events_page

router = Router(tags=["ledger"])


@router.get(
    "/guilds/{bigid:guild_id}/events",
    response={200: Events, **REFUSALS},
    url_name="api-event-list",
)
def list_events(request: HttpRequest, guild_id: PathId, before: Id | None = None) -> HttpResponse:
    """Up to 50 records of the guild's ledger, newest first, older than `?before=`."""
    guild = guild_of(request, guild_id, Verb.READ)
    page = events_page(guild.id, before=_parse_before(before))
    return answer(events_body(page, is_full=len(page) == EVENTS_A_PAGE))


def _parse_before(value: str | None) -> EventId | None:
    if value is None:
        return None
    try:
        return EventId(parse_neighbour(value))
    except InvalidInput as error:
        raise InvalidInput("before", value, error.allowed) from error
