"""Values as the JSON that the contracts promise, the same over HTTP and on the command line."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from guildqueue.domain.ids import SessionId
from guildqueue.domain.job import Job, Lease
from guildqueue.domain.lane_note import LaneNote, UnplacedJob
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry


def ids(numbers: Iterable[int]) -> list[str]:
    """Ids as decimal strings: JavaScript cannot hold them as numbers."""
    return [str(number) for number in numbers]


def moment(at: datetime | None) -> str | None:
    """``at`` as UTC with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def snapshot_body(snapshot: QueueSnapshot) -> dict[str, Any]:
    """A guild's queue: outstanding sessions in claim order, then the finished ones."""
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
        "started_at": moment(entry.started_at),
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


def decision_body(
    refusal: str | None, changed: Sequence[SessionId], order: Sequence[tuple[SessionId, int]]
) -> dict[str, Any]:
    """What became of a move or rule; ``order`` is the one that holds now."""
    return {
        "accepted": refusal is None,
        "refusal": refusal,
        "changed": ids(changed),
        "order": [
            {"session_id": str(session_id), "priority": priority} for session_id, priority in order
        ],
    }


def job_body(job: Job) -> dict[str, Any]:
    """A job as everybody who works on it sees it."""
    return {
        "job_id": str(job.id),
        "guild_id": str(job.guild_id),
        "session_id": str(job.session_id),
        "kind": job.kind,
        "assignee_kind": job.assignee_kind,
        "state": job.state,
        "priority": job.priority,
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        "labels": list(job.labels),
        "payload": dict(job.payload),
        "audio_seconds": job.audio_seconds,
        "run_after": moment(job.run_after),
        "needs": ids(job.needs),
        "external_id": job.external_id,
        "created_at": moment(job.created_at),
    }


def lane_body(jobs: Iterable[LaneNote], unplaced: Iterable[UnplacedJob]) -> dict[str, Any]:
    """What runs next, in order and with who let it, and what has no place in line."""
    return {
        "next": [
            {
                "job_id": str(note.job_id),
                "session_id": str(note.session_id),
                "name": note.name,
                "kind": note.kind,
                "state": note.state,
                "named": note.named,
                "by": note.by,
                "at": moment(note.at),
                "reason": note.reason,
            }
            for note in jobs
        ],
        "unplaced": [
            {
                "job_id": str(job.job_id),
                "session_id": str(job.session_id),
                "name": job.name,
                "kind": job.kind,
                "state": job.state,
            }
            for job in unplaced
        ],
    }


def lease_body(lease: Lease) -> dict[str, Any]:
    """A worker's hold on a job; the token is a decimal string."""
    return {
        "job": job_body(lease.job),
        "token": str(lease.token),
        "expires_at": moment(lease.expires_at),
    }


def event_body(record: LedgerRecord) -> dict[str, Any]:
    """A ledger record."""
    return {
        "event_id": str(record.event_id),
        "at": moment(record.at),
        "type": record.type,
        "by": record.by,
        "on_behalf_of": record.on_behalf_of,
        "reason": record.reason,
        "changed": dict(record.changed),
        "correlation_id": record.correlation_id,
        "untrusted": record.untrusted,
        "prev_digest": record.prev_digest,
        "digest": record.digest,
    }


def events_body(page: Sequence[LedgerRecord], *, is_full: bool) -> dict[str, Any]:
    """A page of the ledger; ``before`` asks for the next one, null behind the last."""
    return {
        "events": [event_body(record) for record in page],
        "before": str(page[-1].event_id) if page and is_full else None,
    }
