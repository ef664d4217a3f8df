"""Bump and un-bump over HTTP: as a source that the caller speaks for, never as the operator."""

import os
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from console import access
from console.api.answers import answer
from console.api.auth import Visitor
from console.api.problems import LANE_STATUS, problem
from console.api.schemas import REFUSALS, LaneAnswer, LaneAsked, LaneProblem, PathId
from console.lane import CONSOLE
from guildqueue.domain.grant import Asker
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.token import Verb
from guildqueue.services import bump, unbump

router = Router(tags=["lane"])
JOB = "/guilds/{bigid:guild_id}/jobs/{bigid:job_id}"
SESSION = "/guilds/{bigid:guild_id}/sessions/{bigid:session_id}"
NOTHING_SAID = LaneAsked()
ANSWERS = {200: LaneAnswer, 409: LaneAnswer, **REFUSALS, 403: LaneProblem, 404: LaneProblem}


@router.post(f"{JOB}/bump", response=ANSWERS, url_name="api-job-bump")
def bump_job(
    request: HttpRequest, guild_id: PathId, job_id: PathId, asked: Body[LaneAsked] = NOTHING_SAID
) -> HttpResponse:
    """Run a job next, with all that it needs before it."""
    return _told(bump.bump_job(JobId(job_id), **_asked(request, guild_id, asked)))


@router.post(f"{JOB}/unbump", response=ANSWERS, url_name="api-job-unbump")
def unbump_job(
    request: HttpRequest, guild_id: PathId, job_id: PathId, asked: Body[LaneAsked] = NOTHING_SAID
) -> HttpResponse:
    """Take a job back, with what only it had pulled in."""
    return _told(unbump.unbump_job(JobId(job_id), **_asked(request, guild_id, asked)))


@router.post(f"{SESSION}/bump", response=ANSWERS, url_name="api-session-bump")
def bump_session(
    request: HttpRequest,
    guild_id: PathId,
    session_id: PathId,
    asked: Body[LaneAsked] = NOTHING_SAID,
) -> HttpResponse:
    """Run all that is outstanding of a session next."""
    return _told(bump.bump_session(SessionId(session_id), **_asked(request, guild_id, asked)))


@router.post(f"{SESSION}/unbump", response=ANSWERS, url_name="api-session-unbump")
def unbump_session(
    request: HttpRequest,
    guild_id: PathId,
    session_id: PathId,
    asked: Body[LaneAsked] = NOTHING_SAID,
) -> HttpResponse:
    """Take a whole session back, judged as one set."""
    return _told(unbump.unbump_session(SessionId(session_id), **_asked(request, guild_id, asked)))


def asker_of(visitor: Visitor, source: str | None) -> Asker:
    """Who asks for the lane; the source only where the visitor may speak for it.

    Whoever names none, or another's, asks as nobody in particular, which is refused.
    """
    principal = visitor.caller.principal
    return Asker(
        uid=os.getuid(),
        principal=principal,
        source=source if source is not None and source == _own_source(visitor) else None,
        on_behalf_of=str(principal),
        may_be_operator=False,
    )


def _own_source(visitor: Visitor) -> str | None:
    bearer = visitor.bearer
    if bearer is None:
        return CONSOLE
    return bearer.source if bearer.user_id is not None or Verb.BUMP in bearer.verbs else None


def _asked(request: HttpRequest, guild_id: int, asked: LaneAsked) -> dict[str, Any]:
    visitor = cast(Any, request).auth
    return {
        "guild_id": _guild_in_scope(request, visitor, guild_id).id,
        "asker": asker_of(visitor, asked.source),
        "reason": asked.reason,
        "correlation_id": visitor.caller.correlation_id,
    }


def _guild_in_scope(request: HttpRequest, visitor: Visitor, guild_id: int) -> GuildRecord:
    # Without its verb: what a token may not do in a guild of its scope is refused on record.
    if visitor.bearer is None:
        return access.administered_guild(request, guild_id)
    return access.guild_in_scope_of_token(visitor.bearer, guild_id)


def _told(outcome: LaneOutcome) -> HttpResponse:
    body = outcome.as_json()
    if outcome.refusal is None:
        return answer(body)
    status = LANE_STATUS[outcome.refusal]
    if status == 409:
        return answer(body, status=status)
    return problem(status, outcome.note, kind=outcome.refusal, **body)
