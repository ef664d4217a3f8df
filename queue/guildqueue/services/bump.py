"""Bump: say that a job, or all of a meeting, runs next, with what it needs before it."""

from collections.abc import Callable

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.services.lane_request import (
    LaneRequest,
    LaneVerb,
    answer,
    decide_bump,
    decide_session_bump,
)


def bump_job(
    job_id: JobId, *, guild_id: GuildId, asker: Asker, reason: str = "", correlation_id: str = ""
) -> LaneOutcome:
    """The job named to run next, or why not; on record either way. Raises GuildNotFound."""
    request = LaneRequest(
        verb=LaneVerb.BUMP,
        guild_id=guild_id,
        asker=asker,
        job_id=job_id,
        reason=reason,
        correlation_id=correlation_id,
    )
    return answer(request, lambda: decide_bump(guild_id, [job_id]))


def bump_session(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    asker: Asker,
    reason: str = "",
    correlation_id: str = "",
) -> LaneOutcome:
    """Every outstanding job of the session named to run next. Raises GuildNotFound."""
    request = LaneRequest(
        verb=LaneVerb.BUMP,
        guild_id=guild_id,
        asker=asker,
        session_id=session_id,
        reason=reason,
        correlation_id=correlation_id,
    )
    return answer(request, lambda: decide_session_bump(guild_id, session_id))


def bump_added(
    add: Callable[[], JobId],
    *,
    guild_id: GuildId,
    asker: Asker,
    external_id: str | None = None,
    reason: str = "",
    correlation_id: str = "",
) -> LaneOutcome:
    """The job that ``add`` gives, new or known, named to run next in the same step.

    ``add`` runs in the request's transaction, under the guild's order lock and only once the
    grant is given: a refusal leaves nothing of it. The outcome has the job's id.
    Raises GuildNotFound, and whatever ``add`` raises that is no refusal of the lane.
    """
    request = LaneRequest(
        verb=LaneVerb.ADD,
        guild_id=guild_id,
        asker=asker,
        external_id=external_id,
        reason=reason,
        correlation_id=correlation_id,
    )
    return answer(request, lambda: decide_bump(guild_id, [add()]))
