"""A guild's queue as one statement reads it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from guildqueue.domain.errors import GuildNotFound, InvalidInput
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.session_state import (
    JobGlance,
    count_jobs,
    session_audio_seconds,
    session_progress,
    session_state,
    waits_for,
)
from guildqueue.domain.snapshot import (
    BumpNote,
    HoldNote,
    LastMove,
    QueueSnapshot,
    SessionEntry,
    TrackBar,
    WaitsFor,
)
from guildqueue.store.guilds import counts_from, hold_from_row
from guildqueue.store.job_rows import parsed_json
from guildqueue.store.ledger import record_from_json
from guildqueue.store.statements import rows


class Extent(NamedTuple):
    """The most that a snapshot has: outstanding sessions, finished ones, records of the ledger."""

    limit: int
    n_finished: int
    n_events: int = 0


def read_snapshot(
    guild_id: GuildId,
    *,
    after: SessionId | None = None,
    only: SessionId | None = None,
    upto: Extent,
    default_cap: int | None,
) -> tuple[int, QueueSnapshot]:
    """The snapshot's number and the snapshot, its ``version`` still empty.

    ``only`` leaves every other session out; ``default_cap`` is that of a guild without one.
    Raises GuildNotFound, or InvalidInput if ``after`` is not in the queue.
    """
    params = {"guild_id": guild_id, "after": after, "only": only, "default_cap": default_cap}
    found = rows("read_snapshot", {**params, **upto._asdict()})
    if not found:
        raise GuildNotFound(guild_id)
    if after is not None and not found[0].found_after:
        raise InvalidInput("after", after, "a session that is in the queue now")
    entries = [entry_from_row(row) for row in found if row.session_id is not None]
    return int(found[0].snapshot_number), _snapshot(guild_id, found[0], entries)


def _snapshot(guild_id: GuildId, head: Any, entries: Sequence[SessionEntry]) -> QueueSnapshot:
    """The guild's totals, which stand on every row, around its sessions."""
    return QueueSnapshot(
        guild_id=guild_id,
        guild_name=head.guild_name,
        guild_root=head.guild_root,
        version="",
        at=head.at,
        hold=_guild_hold(head),
        running_cap=head.running_cap,
        counts=counts_from(
            head.ended,
            pending=head.n_pending,
            running=head.n_running,
            held=head.n_pending if head.guild_held_at else head.n_held,
        ),
        more=head.more,
        sessions=tuple(entry for entry in entries if entry.is_outstanding),
        finished=tuple(entry for entry in entries if not entry.is_outstanding),
        waiting_tracks=head.n_tracks,
        waiting_audio_seconds=head.waiting_audio_seconds,
        unmeasured_tracks=head.n_unmeasured,
        n_waiting_sessions=head.n_waiting_sessions,
        events=tuple(map(record_from_json, parsed_json(head.events) or ())),
    )


def _guild_hold(head: Any) -> HoldNote | None:
    if head.guild_held_at is None:
        return None
    return HoldNote(at=head.guild_held_at, by=head.guild_held_by, reason=head.guild_hold_reason)


def glances_from_row(row: Any) -> tuple[JobGlance, ...]:
    """The jobs of a session's row, from its parallel arrays, ascending id."""
    columns = zip(
        row.ids or (),
        row.kinds or (),
        row.states or (),
        row.names or (),
        row.progresses or (),
        row.lane_places or (),
        row.seconds or (),
        row.reasons or (),
        strict=True,
    )
    return tuple(
        JobGlance(
            job_id=JobId(job_id),
            kind=kind,
            state=state,
            name=name,
            progress=progress,
            bump_seq=bump_seq,
            audio_seconds=seconds,
            waits_for=WaitsFor(reason) if reason else None,
        )
        for job_id, kind, state, name, progress, bump_seq, seconds, reason in columns
    )


def entry_from_row(row: Any) -> SessionEntry:
    """The session of a row, judged by its jobs."""
    jobs = glances_from_row(row)
    hold = hold_from_row(row)
    counts = count_jobs(jobs)
    return SessionEntry(
        session_id=SessionId(row.session_id),
        title=row.title,
        state=session_state(jobs, recording=row.recording, held=hold is not None),
        started_at=row.started_at,
        created_at=row.created_at,
        participants=row.n_participants,
        jobs=counts,
        priority=row.priority,
        position=row.position,
        lane_jobs=row.n_lane,
        named=row.named,
        hold=hold,
        waits_for=waits_for(jobs),
        not_before=row.not_before,
        audio_seconds=session_audio_seconds(jobs),
        progress=session_progress(jobs),
        running_since=row.running_since,
        ended_at=None if counts.outstanding else row.ended_at,
        last_move=_last_move(row),
        tracks=tuple(_bar(job) for job in jobs),
        has_document=bool(row.has_document),
        bump=_bump(row),
    )


def _bar(job: JobGlance) -> TrackBar:
    return TrackBar(
        job_id=job.job_id, name=job.name, kind=job.kind, state=job.state, progress=job.progress
    )


def _bump(row: Any) -> BumpNote | None:
    if row.bumped_at is None:
        return None
    return BumpNote(at=row.bumped_at, by=row.bumped_by, reason=row.bump_reason)


def _last_move(row: Any) -> LastMove | None:
    if row.moved_at is None:
        return None
    return LastMove(at=row.moved_at, by=row.moved_by, place=row.moved_place)
