"""Builders of what the pages render, with keyword defaults; a test names only what it is about."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from guildqueue.domain.guild import GuildRecord, GuildSummary
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Job
from guildqueue.domain.session_detail import JobDetail, SessionDetail
from guildqueue.domain.snapshot import (
    GuildCounts,
    HoldNote,
    JobCounts,
    LastMove,
    QueueSnapshot,
    SessionEntry,
    SessionState,
    TrackBar,
)

AT = datetime(2026, 3, 14, 20, 0, tzinfo=UTC)
STARLING = GuildId(118000000000000001)
_numbers = count(1)


def minutes_ago(minutes: float) -> datetime:
    return AT - timedelta(minutes=minutes)


def bars(*states: str, progress: float = 0.5) -> tuple[TrackBar, ...]:
    """One bar a state; a running one is filled to ``progress``."""
    return tuple(
        TrackBar(
            job_id=JobId(next(_numbers)),
            name=f"speaker {number}",
            kind="transcribe",
            state=state,
            progress=progress if state == "running" else float(state == "done"),
        )
        for number, state in enumerate(states, 1)
    )


def hold_note(reason: str = "wait for consent", *, by: str = "user:ada") -> HoldNote:
    return HoldNote(at=minutes_ago(20), by=by, reason=reason)


def last_move(place: str = "first", *, by: str = "user:Björk", minutes: float = 2) -> LastMove:
    return LastMove(at=minutes_ago(minutes), by=by, place=place)


def entry(session_id: int, title: str = "Retrospective", **given: Any) -> SessionEntry:
    """A waiting session, unless its bars or the caller say otherwise."""
    tracks = given.pop("tracks", bars("pending", "pending"))
    states = [track.state for track in tracks]
    jobs = JobCounts(
        **{s: states.count(s) for s in ("pending", "running", "done", "dead", "cancelled")}
    )
    waits = jobs.pending > 0
    facts: dict[str, Any] = {
        "session_id": SessionId(session_id),
        "title": title,
        "state": _state(jobs, held=given.get("hold") is not None),
        "started_at": minutes_ago(180),
        "created_at": minutes_ago(120),
        "participants": len(tracks),
        "jobs": jobs,
        "priority": 0 if jobs.outstanding else None,
        "position": session_id if waits else None,
        "lane_jobs": 0,
        "named": False,
        "hold": None,
        "waits_for": None,
        "not_before": None,
        "audio_seconds": 3240.0,
        "progress": 0.0,
        "running_since": minutes_ago(4) if jobs.running else None,
        "ended_at": None if jobs.outstanding else minutes_ago(30),
        "last_move": None,
        "tracks": tracks,
        "has_document": False,
    }
    return SessionEntry(**facts | given)


def snapshot(*entries: SessionEntry, **given: Any) -> QueueSnapshot:
    """A queue of ``entries``: those with something outstanding wait, the others are finished."""
    sessions = tuple(e for e in entries if e.is_outstanding)
    facts: dict[str, Any] = {
        "guild_id": STARLING,
        "guild_name": "Starling Guild",
        "version": "12.c0ffee",
        "at": AT,
        "hold": None,
        "running_cap": None,
        "counts": GuildCounts(
            pending=sum(e.jobs.pending for e in sessions),
            running=sum(e.jobs.running for e in sessions),
        ),
        "more": 0,
        "sessions": sessions,
        "finished": tuple(e for e in entries if not e.is_outstanding),
        "waiting_tracks": sum(e.jobs.pending for e in sessions),
        "waiting_audio_seconds": sum(e.audio_seconds or 0.0 for e in sessions),
        "unmeasured_tracks": sum(e.jobs.pending for e in sessions if e.audio_seconds is None),
        "n_waiting_sessions": sum(e.position is not None for e in sessions),
    }
    return QueueSnapshot(**facts | given)


def guild_record(**given: Any) -> GuildRecord:
    facts: dict[str, Any] = {
        "id": STARLING,
        "name": "Starling Guild",
        "root": None,
        "running_cap": None,
        "hold": None,
    }
    return GuildRecord(**facts | given)


def guild_summary(**given: Any) -> GuildSummary:
    facts: dict[str, Any] = {
        "id": STARLING,
        "name": "Starling Guild",
        "hold": None,
        "counts": GuildCounts(pending=41, running=2, done=310, dead=1),
        "n_sessions": 9,
        "next_title": "Treasury review",
        "last_finished_at": minutes_ago(12),
    }
    return GuildSummary(**facts | given)


def job(job_id: int = 1, **given: Any) -> Job:
    facts: dict[str, Any] = {
        "id": JobId(job_id),
        "guild_id": STARLING,
        "session_id": SessionId(1),
        "kind": "transcribe",
        "assignee_kind": "worker",
        "state": "pending",
        "priority": 0,
        "bump_seq": None,
        "bump_named": False,
        "unmet": 0,
        "held": False,
        "attempt": 0,
        "max_attempts": 5,
        "progress": 0.0,
        "labels": (),
        "payload": {"name": "ada"},
        "result": None,
        "error": None,
        "audio_seconds": 540.0,
        "run_after": None,
        "external_id": None,
        "created_at": minutes_ago(120),
        "started_at": None,
        "finished_at": None,
    }
    return Job(**facts | given)


def job_detail(job_id: int = 1, **given: Any) -> JobDetail:
    waits_for = given.pop("waits_for", None)
    lease_by = given.pop("lease_by", None)
    expires = given.pop("lease_expires_at", None)
    return JobDetail(
        job=job(job_id, **given),
        waits_for=waits_for,
        lease_by=lease_by,
        lease_expires_at=expires,
    )


def session_detail(*jobs: JobDetail, **given: Any) -> SessionDetail:
    facts: dict[str, Any] = {
        "guild": guild_record(),
        "entry": entry(1),
        "external_id": "a1RetroEight",
        "participants": (),
        "jobs": jobs,
    }
    return SessionDetail(**facts | given)


def _state(jobs: JobCounts, *, held: bool) -> SessionState:
    if jobs.running:
        return SessionState.RUNNING
    if jobs.pending:
        return SessionState.HELD if held else SessionState.QUEUED
    if jobs.dead:
        return SessionState.DEAD
    return SessionState.CANCELLED if jobs.cancelled and not jobs.done else SessionState.DONE
