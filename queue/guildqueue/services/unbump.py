"""Un-bump: take back that a job, or all of a meeting, runs next."""

from typing import Unpack

from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.services.lane_request import (
    Asked,
    LaneRequest,
    LaneVerb,
    answer,
    decide_session_unbump,
    decide_unbump,
)


def unbump_job(job_id: JobId, **asked: Unpack[Asked]) -> LaneOutcome:
    """The job taken back, with what only it pulled in, or why not; on record either way.

    Raises GuildNotFound.
    """
    request = LaneRequest(verb=LaneVerb.UNBUMP, job_id=job_id, **asked)
    return answer(request, lambda: decide_unbump(request.guild_id, [job_id]))


def unbump_session(session_id: SessionId, **asked: Unpack[Asked]) -> LaneOutcome:
    """Every outstanding job of the session taken back, judged as one set. Raises GuildNotFound."""
    request = LaneRequest(verb=LaneVerb.UNBUMP, session_id=session_id, **asked)
    return answer(request, lambda: decide_session_unbump(request.guild_id, session_id))
