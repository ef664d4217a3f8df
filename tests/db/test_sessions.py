"""Meetings and their tracks: created once, added to while they are recorded or late, dropped."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from guildqueue.domain.errors import (
    GuildNotFound,
    JobNotFound,
    NothingToRequeue,
    SessionNotFound,
    StaleLease,
)
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Job
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from guildqueue.domain.snapshot import SessionState, WaitsFor
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.browse import events_page, job_inputs, session_detail
from guildqueue.services.cancel import cancel_job, cancel_session
from guildqueue.services.claim import claim_jobs
from guildqueue.services.create_session import create_session
from guildqueue.services.drop_track import drop_track
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.move import move_session
from guildqueue.services.requeue import requeue_session
from tests.builders import (
    MAGPIE,
    WORKER,
    bury,
    caller,
    complete,
    dead_session,
    document_id,
    done_session,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_job,
    stored_session,
    track_ids,
)
from tests.db.races import query, together
from tests.db.stored import numbers, put_in_lane, row_versions

pytestmark = pytest.mark.usefixtures("committed_db")

LATE = (NewTrack(name="late"),)


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def add(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    tracks: Sequence[NewTrack] = LATE,
    recording: bool | None = None,
) -> tuple[JobId, ...]:
    return add_tracks(session_id, guild_id=guild_id, tracks=tracks, recording=recording)


def document_of(session_id: SessionId) -> Job:
    return stored_job(document_id(session_id), session_id=session_id)


def test_a_session_has_a_job_a_track_and_a_document_that_needs_them(guild: GuildId) -> None:
    started_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    new = NewSession(
        title="retro 🎙",
        external_id="a1",
        started_at=started_at,
        participants=(NewParticipant(name="Ada", user_id="7"), NewParticipant(name="Ivo")),
        tracks=(
            NewTrack(name="ada", uri="audio/1.flac", audio_seconds=3.5),
            NewTrack(name="ivo"),
        ),
    )

    session, created = create_session(guild, session=new)

    assert created
    detail = session_detail(session)
    assert detail.participants == new.participants
    assert (detail.external_id, detail.entry.title) == ("a1", "retro 🎙")
    assert [dict(job.job.payload) for job in detail.tracks] == [
        {"name": "ada", "uri": "audio/1.flac"},
        {"name": "ivo", "uri": None},
    ]
    assert [job.job.audio_seconds for job in detail.tracks] == [3.5, None]
    document = document_of(session)
    assert document.payload == {"title": "retro 🎙", "started_at": started_at.isoformat()}
    assert (document.unmet, document.needs) == (2, tuple(track_ids(session)))


def test_the_same_external_id_again_changes_nothing(guild: GuildId) -> None:
    first = stored_session(guild, external_id="a1", n_tracks=2)
    versions = row_versions()

    again = create_session(guild, session=NewSession(title="other", external_id="a1"))

    assert again == (first, False)
    assert row_versions() == versions


def test_an_external_id_is_a_guilds_own(guild: GuildId) -> None:
    first = stored_session(guild, external_id="a1")
    second = stored_session(stored_guild(MAGPIE), external_id="a1")

    assert first != second


def test_one_session_comes_of_many_imports_at_once(guild: GuildId) -> None:
    new = NewSession(title="retro", external_id="a1", tracks=LATE)

    made = together(*[lambda: create_session(guild, session=new)] * 6)

    assert len({getattr(one, "session_id", None) for one in made}) == 1
    assert sum(getattr(one, "created", False) for one in made) == 1
    assert query("SELECT count(*) FROM guildqueue_job") == [(2,)]


def test_a_session_of_an_unknown_guild_is_refused(guild: GuildId) -> None:
    versions = row_versions()

    with pytest.raises(GuildNotFound):
        create_session(GuildId(5), session=NewSession(title="retro", tracks=LATE))

    assert row_versions() == versions


def test_ids_of_sessions_created_at_once_do_not_interleave(guild: GuildId) -> None:
    new = NewSession(title="retro", tracks=LATE * 20)

    together(*[lambda: create_session(guild, session=new)] * 6)

    found = query("SELECT session_id FROM guildqueue_job ORDER BY id")
    in_order = [
        session for i, (session,) in enumerate(found) if i == 0 or found[i - 1][0] != session
    ]
    assert len(in_order) == 6


def test_a_session_still_recording_has_no_document_until_it_ends(guild: GuildId) -> None:
    session = stored_session(guild, recording=True, n_tracks=1)
    assert session_detail(session).entry.state is SessionState.RECORDING
    add(session, guild_id=guild)
    before = session_detail(session).document

    add(session, guild_id=guild, tracks=(), recording=False)

    assert before is None
    assert document_of(session).needs == tuple(track_ids(session))
    assert session_detail(session).entry.state is SessionState.QUEUED


def test_the_last_track_may_come_with_the_end_of_the_recording(guild: GuildId) -> None:
    session = stored_session(guild, recording=True, n_tracks=1)
    (track,) = running_jobs(session)
    complete(track)

    (last,) = add(session, guild_id=guild, recording=False)

    document = document_of(session)
    assert document.needs == (track.job.id, last)
    assert document.unmet == 1


def test_an_end_of_recording_told_twice_makes_one_document(guild: GuildId) -> None:
    session = stored_session(guild, recording=True)

    for _ in range(2):
        add(session, guild_id=guild, tracks=(), recording=False)

    assert [job.kind for job in session_jobs(session)] == ["transcribe", "document"]


def test_a_recording_whose_tracks_were_cancelled_gets_no_document(guild: GuildId) -> None:
    session = stored_session(guild, recording=True)
    cancel_session(session, guild_id=guild, caller=caller())

    add(session, guild_id=guild, tracks=(), recording=False)

    assert session_detail(session).document is None
    assert session_detail(session).entry.state is SessionState.CANCELLED


def test_a_late_track_is_waited_for_by_a_pending_document(guild: GuildId) -> None:
    session = stored_session(guild)

    (late,) = add(session, guild_id=guild)

    document = document_of(session)
    assert (document.unmet, document.needs[-1]) == (2, late)
    assert document.state == "pending"


def test_a_late_track_does_a_finished_document_again(guild: GuildId) -> None:
    session = done_session(guild)

    (late,) = add(session, guild_id=guild)

    document = document_of(session)
    assert (document.state, document.unmet, document.attempt) == ("pending", 1, 0)
    assert [lease.job.id for lease in claim_jobs(WORKER, count=9, ttl_s=60)] == [late]


def test_a_late_track_stops_a_running_document(guild: GuildId) -> None:
    session = stored_session(guild)
    (track,) = running_jobs(session)
    complete(track)
    (document,) = running_jobs(session)

    add(session, guild_id=guild)

    with pytest.raises(StaleLease):
        complete(document)
    assert document_of(session).unmet == 1


def test_a_late_track_does_again_what_was_built_on_the_document(guild: GuildId) -> None:
    session, other = done_session(guild), stored_session(guild)
    built = NewJob(session_id=other, kind="transcribe", needs=(document_id(session),))
    [(job_id, _)] = enqueue_jobs(guild, jobs=[built])
    for lease in running_jobs(other):
        complete(lease)

    add_tracks(session, guild_id=guild, tracks=LATE)

    assert stored_job(job_id, session_id=other).state == "pending"
    for _ in range(2):
        for lease in running_jobs(session):
            complete(lease)
    assert stored_job(document_id(session), session_id=session).state == "done"
    assert stored_job(job_id, session_id=other).unmet == 0


def test_a_late_track_takes_the_sessions_number(guild: GuildId) -> None:
    session, other = stored_session(guild), stored_session(guild)
    move_session(session, guild_id=guild, place=Place.LAST, caller=caller())

    add(session, guild_id=guild)

    assert numbers(guild) == {other: 0, session: 1}


def test_a_late_track_of_a_finished_session_takes_its_largest_number(guild: GuildId) -> None:
    session = stored_session(guild)
    stored_session(guild)
    move_session(session, guild_id=guild, place=Place.LAST, caller=caller())
    cancel_session(session, guild_id=guild, caller=caller())

    add(session, guild_id=guild)

    assert numbers(guild)[session] == 1


def test_a_late_track_of_a_session_in_the_lane_does_not_run_next(guild: GuildId) -> None:
    session = stored_session(guild)
    put_in_lane([job.id for job in session_jobs(session)])

    (late,) = add(session, guild_id=guild)

    assert stored_job(late, session_id=session).bump_seq is None
    entry = session_detail(session).entry
    assert (entry.in_lane, entry.lane_jobs) == (False, 2)


def test_tracks_of_another_guilds_session_are_refused(guild: GuildId) -> None:
    foreign = stored_session(stored_guild(MAGPIE))
    versions = row_versions()

    with pytest.raises(SessionNotFound):
        add(foreign, guild_id=guild)

    assert row_versions() == versions


def test_a_document_waits_for_a_dead_track_until_somebody_decides(guild: GuildId) -> None:
    session = dead_session(guild, n_tracks=2)
    entry = session_detail(session).entry
    assert (entry.state, entry.waits_for) == (SessionState.DEAD, WaitsFor.DEPENDENCY_FAILED)

    requeue_session(session, guild_id=guild, caller=caller())
    entry = session_detail(session).entry

    assert (entry.state, entry.waits_for) == (SessionState.QUEUED, None)
    assert document_of(session).unmet == 1


def test_a_dropped_track_is_left_out_of_the_document(guild: GuildId) -> None:
    session = dead_session(guild, n_tracks=2)
    dead, alive = track_ids(session)

    assert drop_track(dead, guild_id=guild, caller=caller("björk"))

    (lease,) = claim_jobs(WORKER, ttl_s=60)
    assert lease.job.id == document_id(session)
    assert [needed.job_id for needed in job_inputs(lease.job.id)] == [alive]
    (record,) = events_page(guild)
    assert (record.type, record.by) == ("TrackDropped", "user:björk")
    assert record.changed["job_id"] == str(dead)
    assert drop_track(dead, guild_id=guild, caller=caller()) is False


def test_a_cancelled_track_can_be_dropped(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    first, second = track_ids(session)
    cancel_job(first, guild_id=guild, caller=caller())

    drop_track(first, guild_id=guild, caller=caller())

    assert (document_of(session).unmet, document_of(session).needs) == (1, (second,))


def test_a_track_that_may_still_finish_cannot_be_dropped(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    (running, _) = running_jobs(session)
    foreign = dead_session(stored_guild(MAGPIE))
    versions = row_versions()

    with pytest.raises(NothingToRequeue):
        drop_track(running.job.id, guild_id=guild, caller=caller())
    with pytest.raises(JobNotFound):
        drop_track(track_ids(foreign)[0], guild_id=guild, caller=caller())

    assert row_versions() == versions


def test_dropped_and_requeued_the_track_is_not_waited_for_again(guild: GuildId) -> None:
    session = dead_session(guild, n_tracks=2)
    dead, _ = track_ids(session)
    drop_track(dead, guild_id=guild, caller=caller())

    requeue_session(session, guild_id=guild, caller=caller())

    assert document_of(session).unmet == 0


def walk(session_id: SessionId, guild_id: GuildId) -> list[SessionState]:
    """The states that a session of two tracks goes through, one event after the other."""

    def state() -> SessionState:
        return session_detail(session_id).entry.state

    seen = [state()]
    add_tracks(session_id, guild_id=guild_id, tracks=(), recording=False)
    seen.append(state())
    first, second = running_jobs(session_id)
    seen.append(state())
    complete(first)
    bury(second)
    seen.append(state())
    cancel_session(session_id, guild_id=guild_id, caller=caller())
    seen.append(state())
    requeue_session(session_id, guild_id=guild_id, caller=caller())
    seen.append(state())
    while leases := running_jobs(session_id):
        for lease in leases:
            complete(lease)
    seen.append(state())
    return seen


def test_a_sessions_state_is_the_first_that_fits(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2, recording=True)

    assert walk(session, guild) == [
        SessionState.RECORDING,
        SessionState.QUEUED,
        SessionState.RUNNING,
        SessionState.DEAD,
        SessionState.DEAD,
        SessionState.QUEUED,
        SessionState.DONE,
    ]
