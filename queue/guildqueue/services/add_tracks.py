"""Tracks that arrive while a meeting is recorded, or late."""

from collections.abc import Sequence

from django.conf import settings

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Job, JobState, Kind
from guildqueue.domain.new_session import NewTrack
from guildqueue.services.create_session import add_document
from guildqueue.services.reopen import reopen_jobs
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import jobs, locks, orders, sessions
from guildqueue.store.jobs import Placement


@decided_in_transaction
def add_tracks(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    tracks: Sequence[NewTrack],
    recording: bool | None = None,
) -> tuple[JobId, ...]:
    """The new jobs, at the session's number and under its hold.

    ``recording`` false ends the recording and puts the document in line; None leaves it. A late
    track makes a pending document wait for it, and one that ran or ended is done again.
    Raises SessionNotFound.
    """
    locks.lock_order(guild_id)
    locks.lock_needs(guild_id)
    facts = sessions.lock_session(guild_id, session_id)
    number = orders.read_session_number(guild_id, session_id)
    placement = Placement(guild_id, session_id, number, facts.is_held, settings.QUEUE_MAX_ATTEMPTS)
    added = jobs.insert_tracks(placement, tracks)
    if recording is not None and recording != facts.recording:
        sessions.mark_recording(guild_id, session_id, recording)
    still_recording = facts.recording if recording is None else recording
    before = jobs.read_session_jobs(guild_id, session_id)
    document = next((job for job in reversed(before) if job.kind == Kind.DOCUMENT), None)
    if document is not None and added:
        _await(document, placement, added)
    elif document is None and not still_recording:
        _begin_document(placement, facts.title, before)
    wake_workers()
    return tuple(added)


def _begin_document(placement: Placement, title: str, session_jobs: Sequence[Job]) -> None:
    tracks = [
        job.id
        for job in session_jobs
        if job.kind == Kind.TRANSCRIBE and job.state != JobState.CANCELLED
    ]
    if tracks:
        started_at = sessions.read_started_at(placement.guild_id, placement.session_id)
        add_document(placement, title, started_at, tracks)


def _await(document: Job, placement: Placement, added: Sequence[JobId]) -> None:
    """Make the document need the new tracks, and run again if it was past waiting."""
    guild_id = placement.guild_id
    reopen_jobs(guild_id, [document.id])
    jobs.insert_needs(guild_id, document.id, added)
