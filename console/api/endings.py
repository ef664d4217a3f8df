"""Cancel what is outstanding of a session, or put what ended back in line."""

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from console.api import answers
from console.api.auth import caller_of, session_guild_of
from console.api.schemas import REFUSALS, Jobs, Nothing, PathId, Problem
from guildqueue.domain.ids import SessionId
from guildqueue.domain.token import Verb
from guildqueue.services import cancel, requeue

router = Router(tags=["sessions"])
REQUEUE = "/sessions/{bigid:session_id}/requeue"
CANCEL = "/sessions/{bigid:session_id}/cancel"
NO_BODY = Nothing()
ANSWERS = {200: Jobs, 409: Problem, **REFUSALS}


@router.post(REQUEUE, response=ANSWERS, url_name="api-session-requeue")
def requeue_session(
    request: HttpRequest, session_id: PathId, nothing: Body[Nothing] = NO_BODY
) -> HttpResponse:
    """Requeue what is dead or cancelled, or all of a finished session."""
    guild_id = session_guild_of(request, session_id, Verb.MOVE)
    caller = caller_of(request)
    requeued = requeue.requeue_session(SessionId(session_id), guild_id=guild_id, caller=caller)
    return answers.jobs(requeued)


@router.post(CANCEL, response=ANSWERS, url_name="api-session-cancel")
def cancel_session(
    request: HttpRequest, session_id: PathId, nothing: Body[Nothing] = NO_BODY
) -> HttpResponse:
    """Cancel whatever waits or runs; a running job's lease ends at once."""
    guild_id = session_guild_of(request, session_id, Verb.MOVE)
    caller = caller_of(request)
    cancelled = cancel.cancel_session(SessionId(session_id), guild_id=guild_id, caller=caller)
    return answers.jobs(cancelled)
