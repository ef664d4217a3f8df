"""Holds of a session and of a guild: made by POST, ended by DELETE, and both may be repeated."""

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from console.api import answers
from console.api.auth import caller_of, guild_of, session_guild_of
from console.api.schemas import REFUSALS, Holding, PathId, Problem, Reason
from guildqueue.domain.ids import SessionId
from guildqueue.domain.token import Verb
from guildqueue.services import hold

router = Router(tags=["holds"])
SESSION_HOLD = "/sessions/{bigid:session_id}/hold"
GUILD_HOLD = "/guilds/{bigid:guild_id}/hold"
NO_REASON = Reason()
ANSWERS = {200: Holding, 409: Problem, **REFUSALS}


@router.post(SESSION_HOLD, response=ANSWERS, url_name="api-session-hold")
def hold_session(
    request: HttpRequest, session_id: PathId, why: Body[Reason] = NO_REASON
) -> HttpResponse:
    """Hold a session: what runs finishes, and nothing more of it starts."""
    guild_id = session_guild_of(request, session_id, Verb.MOVE)
    caller = caller_of(request)
    changed = hold.hold_session(
        SessionId(session_id), guild_id=guild_id, reason=why.reason, caller=caller
    )
    return answers.holding(held=True, changed=changed)


@router.delete(SESSION_HOLD, response=ANSWERS, url_name="api-session-hold")
def release_session(
    request: HttpRequest, session_id: PathId, why: Body[Reason] = NO_REASON
) -> HttpResponse:
    """End the hold of a session."""
    guild_id = session_guild_of(request, session_id, Verb.MOVE)
    caller = caller_of(request)
    changed = hold.release_session(
        SessionId(session_id), guild_id=guild_id, reason=why.reason, caller=caller
    )
    return answers.holding(held=False, changed=changed)


@router.post(GUILD_HOLD, response=ANSWERS, url_name="api-guild-hold")
def hold_guild(
    request: HttpRequest, guild_id: PathId, why: Body[Reason] = NO_REASON
) -> HttpResponse:
    """Hold the whole guild, whatever its sessions' own holds are."""
    guild = guild_of(request, guild_id, Verb.MOVE)
    changed = hold.hold_guild(guild.id, reason=why.reason, caller=caller_of(request))
    return answers.holding(held=True, changed=changed)


@router.delete(GUILD_HOLD, response=ANSWERS, url_name="api-guild-hold")
def release_guild(
    request: HttpRequest, guild_id: PathId, why: Body[Reason] = NO_REASON
) -> HttpResponse:
    """End the hold of the guild; its sessions keep their own."""
    guild = guild_of(request, guild_id, Verb.MOVE)
    changed = hold.release_guild(guild.id, reason=why.reason, caller=caller_of(request))
    return answers.holding(held=False, changed=changed)
