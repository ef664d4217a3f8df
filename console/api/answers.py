"""Answers as plain JSON values: what the page shows, in the words of the API."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponse

from guildqueue.domain.errors import MoveRefused, RequestRefused
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry
from guildqueue.services.move import MoveOutcome
from guildqueue.services.read_order import current_order


def answer(body: Any, *, status: int = 200) -> HttpResponse:
    """``body`` as JSON that no cache keeps."""
    response = HttpResponse(one_line(body), status=status, content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def one_line(body: Any) -> str:
    """JSON without a line break, so that it also fits an event of a stream."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def snapshot_body(snapshot: QueueSnapshot) -> dict[str, Any]:
    counts = snapshot.counts
    return {
        "guild_id": str(snapshot.guild_id),
        "version": snapshot.version,
        "held": snapshot.held,
        "counts": {
            "pending": counts.pending,
            "running": counts.running,
            "done": counts.done,
            "dead": counts.dead,
            "cancelled": counts.cancelled,
            "held": counts.held,
            "other": counts.other,
        },
        "more": snapshot.more,
        "sessions": [_session(entry) for entry in (*snapshot.sessions, *snapshot.finished)],
    }


def _session(entry: SessionEntry) -> dict[str, Any]:
    jobs = entry.jobs
    return {
        "session_id": str(entry.session_id),
        "title": entry.title,
        "state": entry.state.value,
        "started_at": _moment(entry.started_at),
        "participants": entry.participants,
        "jobs": {
            "pending": jobs.pending,
            "running": jobs.running,
            "done": jobs.done,
            "dead": jobs.dead,
            "cancelled": jobs.cancelled,
        },
        "priority": entry.priority,
        "position": entry.position,
        "lane": entry.in_lane,
        "lane_jobs": entry.lane_jobs,
        "named": entry.named,
        "held": entry.held,
        "waits_for": entry.waits_for,
        "audio_seconds": entry.audio_seconds,
        "progress": entry.progress,
    }


def _moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def decision(guild_id: GuildId, decide: Callable[[], MoveOutcome]) -> HttpResponse:
    """What ``decide`` did and the order that holds; 409 with the order as it is if it refused."""
    try:
        outcome = decide()
    except MoveRefused as refused:
        return _refused(refused, refused.order)
    except RequestRefused as refused:
        return _refused(refused, current_order(guild_id))
    return answer(_decision(None, outcome.changed, outcome.order))


def _refused(refused: RequestRefused, order: Sequence[tuple[SessionId, int]]) -> HttpResponse:
    return answer(_decision(refused.refusal, (), order), status=409)


def _decision(
    refusal: str | None, changed: Sequence[SessionId], order: Sequence[tuple[SessionId, int]]
) -> dict[str, Any]:
    return {
        "accepted": refusal is None,
        "refusal": refusal,
        "changed": [str(session_id) for session_id in changed],
        "order": [
            {"session_id": str(session_id), "priority": priority} for session_id, priority in order
        ],
    }


def holding(*, held: bool, changed: bool) -> HttpResponse:
    return answer({"held": held, "changed": changed})


def jobs(job_ids: Sequence[JobId]) -> HttpResponse:
    return answer({"jobs": [str(job_id) for job_id in job_ids]})
