"""Un-bump: take back that a job, or all of a meeting, runs next."""

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.services.lane_request import (
    LaneRequest,
    LaneVerb,
    answer,
    decide_session_unbump,
    decide_unbump,
)


def unbump_job(
    job_id: JobId, *, guild_id: GuildId, asker: Asker, reason: str = "", correlation_id: str = ""
) -> LaneOutcome:
    """The job taken back, with what only it pulled in, or why not; on record either way.

    Raises GuildNotFound.
    """
    request = LaneRequest(
        verb=LaneVerb.UNBUMP,
        guild_id=guild_id,
        asker=asker,
        job_id=job_id,
        reason=reason,
        correlation_id=correlation_id,
    )
    return answer(request, lambda: decide_unbump(guild_id, [job_id]))


def unbump_session(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    asker: Asker,
    reason: str = "",
    correlation_id: str = "",
) -> LaneOutcome:
    """Every outstanding job of the session taken back, judged as one set. Raises GuildNotFound."""
    request = LaneRequest(
        verb=LaneVerb.UNBUMP,
        guild_id=guild_id,
        asker=asker,
        session_id=session_id,
        reason=reason,
        correlation_id=correlation_id,
    )
    return answer(request, lambda: decide_session_unbump(guild_id, session_id))
