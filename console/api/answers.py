"""Answers as plain JSON values: what the page shows, in the words of the API."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpResponse

from guildqueue.domain.errors import MoveRefused, RequestRefused
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.wire import decision_body, ids, snapshot_body
from guildqueue.services.move import MoveOutcome
from guildqueue.services.read_order import current_order

__all__ = ["answer", "decision", "holding", "jobs", "one_line", "snapshot_body"]


def answer(body: Any, *, status: int = 200) -> HttpResponse:
    """``body`` as JSON that no cache keeps."""
    response = HttpResponse(one_line(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def one_line(body: Any) -> str:
    """JSON without a line break, so that it also fits an event of a stream."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def decision(guild_id: GuildId, decide: Callable[[], MoveOutcome]) -> HttpResponse:
    """What ``decide`` did and the order that holds; 409 with the order as it is if it refused."""
    try:
        outcome = decide()
    except MoveRefused as refused:
        return _refused(refused, refused.order)
    except RequestRefused as refused:
        return _refused(refused, current_order(guild_id))
    return answer(decision_body(None, outcome.changed, outcome.order))


def _refused(refused: RequestRefused, order: Sequence[tuple[SessionId, int]]) -> HttpResponse:
    return answer(decision_body(refused.refusal, (), order), status=409)


def holding(*, held: bool, changed: bool) -> HttpResponse:
    return answer({"held": held, "changed": changed})


def jobs(job_ids: Sequence[JobId]) -> HttpResponse:
    return answer({"jobs": ids(job_ids)})
