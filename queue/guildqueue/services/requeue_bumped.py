"""Requeue a job or a meeting so that it runs next, in one step through the one grant."""

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

from guildqueue.domain.errors import NothingToRequeue
from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.ledger import EventType
from guildqueue.services.lane_request import (
    Asked,
    Decision,
    LaneRequest,
    LaneVerb,
    answer,
    decide_bump,
    decide_session_bump,
)
from guildqueue.services.requeue import Requeued, reopen_job, reopen_session


def requeue_job_bumped(job_id: JobId, **asked: Unpack[Asked]) -> LaneOutcome:
    """The job pending again and named to run next; one that is outstanding is only named.

    Without the grant nothing is requeued. Raises GuildNotFound.
    """
    request = LaneRequest(verb=LaneVerb.REQUEUE, job_id=job_id, **asked)
    guild_id = request.guild_id

    def decide() -> Decision:
        return _decide(
            lambda: reopen_job(guild_id, job_id), lambda: decide_bump(guild_id, [job_id])
        )

    return answer(request, decide)


def requeue_session_bumped(session_id: SessionId, **asked: Unpack[Asked]) -> LaneOutcome:
    """What ended of the session pending again, and all of it named to run next."""
    request = LaneRequest(verb=LaneVerb.REQUEUE, session_id=session_id, **asked)
    guild_id = request.guild_id

    def decide() -> Decision:
        return _decide(
            lambda: reopen_session(guild_id, session_id),
            lambda: decide_session_bump(guild_id, session_id),
        )

    return answer(request, decide)


def _decide(reopen: Callable[[], Requeued], decide: Callable[[], Decision]) -> Decision:
    try:
        requeued = reopen()
    except NothingToRequeue:
        # Asked again after an un-bump: nothing is left to requeue, and it is bumped again.
        return decide()
    return replace(decide(), also=[(EventType.REQUEUED, requeued.changed)])
