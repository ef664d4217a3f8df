"""Bump: say that a job, or all of a meeting, runs next, with what it needs before it."""

from collections.abc import Callable
from typing import Unpack

from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.services.lane_request import (
    Asked,
    LaneRequest,
    LaneVerb,
    answer,
    decide_bump,
    decide_session_bump,
)


def bump_job(job_id: JobId, **asked: Unpack[Asked]) -> LaneOutcome:
    """The job named to run next, or why not; on record either way. Raises GuildNotFound."""
    request = LaneRequest(verb=LaneVerb.BUMP, job_id=job_id, **asked)
    return answer(request, lambda: decide_bump(request.guild_id, [job_id]))


def bump_session(session_id: SessionId, **asked: Unpack[Asked]) -> LaneOutcome:
    """Every outstanding job of the session named to run next. Raises GuildNotFound."""
    request = LaneRequest(verb=LaneVerb.BUMP, session_id=session_id, **asked)
    return answer(request, lambda: decide_session_bump(request.guild_id, session_id))


def bump_added(
    add: Callable[[], JobId], *, external_id: str | None = None, **asked: Unpack[Asked]
) -> LaneOutcome:
    """The job that ``add`` gives, new or known, named to run next in the same step.

    ``add`` runs in the request's transaction, under the guild's order lock and only once the
    grant is given: a refusal leaves nothing of it. The outcome has the job's id.
    Raises GuildNotFound, and whatever ``add`` raises that is no refusal of the lane.
    """
    request = LaneRequest(verb=LaneVerb.ADD, external_id=external_id, **asked)
    return answer(request, lambda: decide_bump(request.guild_id, [add()]))
