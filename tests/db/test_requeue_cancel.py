"""Requeue and cancel: what goes back in line or ends, with its dependents, number and record."""

import pytest

from guildqueue.domain.errors import (
    JobNotFound,
    LeaseCancelled,
    NothingOutstanding,
    NothingToRequeue,
    SessionNotFound,
    StaleLease,
)
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import JobState
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.services.browse import events_page
from guildqueue.services.cancel import cancel_job, cancel_session
from guildqueue.services.claim import claim_jobs
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from guildqueue.services.release import release_job
from guildqueue.services.requeue import requeue_job, requeue_session
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
from tests.db.races import begun, half_done
from tests.db.stored import line, numbers, put_in_lane, row_versions, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def states(session_id: SessionId) -> list[str]:
    return [job.state for job in session_jobs(session_id)]


def test_requeue_puts_the_dead_track_back_and_leaves_the_done_ones(guild: GuildId) -> None:
    session = dead_session(guild, n_tracks=3)
    dead, *_ = track_ids(session)

    again = requeue_session(session, guild_id=guild, caller=caller())

    assert again == (dead,)
    assert states(session) == ["pending", "done", "done", "pending"]
    job = stored_job(dead, session_id=session)
    assert (job.attempt, job.error, job.run_after, job.finished_at) == (0, None, None, None)
    assert stored_job(document_id(session), session_id=session).unmet == 1


def test_a_requeued_track_keeps_its_measured_length(guild: GuildId) -> None:
    session = stored_session(guild, audio_seconds=None)
    (lease,) = running_jobs(session)
    complete(lease, audio_seconds=12.5)

    requeue_job(lease.job.id, guild_id=guild, caller=caller())

    assert stored_job(lease.job.id, session_id=session).audio_seconds == 12.5


def test_requeue_of_a_finished_session_does_all_of_it_again(guild: GuildId) -> None:
    session = done_session(guild, n_tracks=2)

    again = requeue_session(session, guild_id=guild, caller=caller())

    assert again == tuple(job.id for job in session_jobs(session))
    assert states(session) == ["pending"] * 3
    assert [job.unmet for job in session_jobs(session)] == [0, 0, 2]


def test_a_requeued_track_takes_its_finished_document_along(guild: GuildId) -> None:
    session = done_session(guild, n_tracks=2)
    first, _ = track_ids(session)
    document = document_id(session)

    again = requeue_job(first, guild_id=guild, caller=caller())

    assert again == (first, document)
    assert states(session) == ["pending", "done", "pending"]
    assert stored_job(document, session_id=session).unmet == 1
    assert stored_job(document, session_id=session).result is not None


def test_a_requeued_track_stops_its_running_document(guild: GuildId) -> None:
    session = stored_session(guild)
    (track,) = running_jobs(session)
    complete(track)
    (document,) = running_jobs(session)

    requeue_job(track.job.id, guild_id=guild, caller=caller())

    with pytest.raises(StaleLease):
        complete(document)
    assert states(session) == ["pending", "pending"]
    assert stored_job(document.job.id, session_id=session).unmet == 1


def test_a_document_claimed_while_its_track_is_requeued_is_done_again(guild: GuildId) -> None:
    session = stored_session(guild)
    (track,) = running_jobs(session)
    complete(track)
    document = document_id(session)

    with (
        half_done(lambda: claim_jobs(WORKER, ttl_s=60), commit=True) as claim,
        begun(lambda: requeue_job(track.job.id, guild_id=guild, caller=caller())) as requeue,
    ):
        requeue.wait_until_blocked()
        claim.end()

    assert stored_job(document, session_id=session).state == JobState.PENDING
    assert stored_job(document, session_id=session).unmet == 1


def test_requeue_of_a_waiting_session_is_refused(guild: GuildId) -> None:
    session = stored_session(guild)
    versions = row_versions()

    with pytest.raises(NothingToRequeue):
        requeue_session(session, guild_id=guild, caller=caller())
    with pytest.raises(NothingToRequeue):
        requeue_job(track_ids(session)[0], guild_id=guild, caller=caller())

    assert row_versions() == versions


def test_another_guilds_session_and_job_are_not_found(guild: GuildId) -> None:
    foreign = dead_session(stored_guild(MAGPIE))
    job = track_ids(foreign)[0]
    versions = row_versions()

    with pytest.raises(SessionNotFound):
        requeue_session(foreign, guild_id=guild, caller=caller())
    with pytest.raises(SessionNotFound):
        cancel_session(foreign, guild_id=guild, caller=caller())
    with pytest.raises(JobNotFound):
        requeue_job(job, guild_id=guild, caller=caller())
    with pytest.raises(JobNotFound):
        cancel_job(job, guild_id=guild, caller=caller())

    assert row_versions() == versions


def test_cancel_and_requeue_is_no_way_to_the_front(guild: GuildId) -> None:
    late, *others = [stored_session(guild) for _ in range(3)]
    move_session(late, guild_id=guild, place=Place.LAST, caller=caller())
    before = numbers(guild)

    cancel_session(late, guild_id=guild, caller=caller())
    requeue_session(late, guild_id=guild, caller=caller())

    assert numbers(guild) == before
    assert line(guild) == [*others, late]


def test_requeue_takes_the_largest_number_the_jobs_carried(guild: GuildId) -> None:
    session = done_session(guild, n_tracks=2)
    first, second = track_ids(session)
    write("UPDATE guildqueue_job SET priority = 7 WHERE id = %s", first)
    write("UPDATE guildqueue_job SET priority = 3 WHERE id = %s", second)

    requeue_job(second, guild_id=guild, caller=caller())

    assert numbers(guild) == {session: 7}


def test_requeue_beside_outstanding_jobs_takes_their_number(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    stored_session(guild)
    first, second = running_jobs(session)
    bury(first)
    move_session(session, guild_id=guild, place=Place.LAST, caller=caller())

    requeue_job(first.job.id, guild_id=guild, caller=caller())

    assert numbers(guild)[session] == 1
    assert second.job.id in track_ids(session)


def test_a_requeued_job_of_a_held_session_is_held(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    first, _ = running_jobs(session)
    bury(first)
    hold_session(session, guild_id=guild, reason="", caller=caller())

    requeue_session(session, guild_id=guild, caller=caller())

    assert stored_job(first.job.id, session_id=session).held


def test_what_another_meeting_built_on_a_job_goes_back_into_its_own_place(guild: GuildId) -> None:
    session, other = stored_session(guild), stored_session(guild)
    (track,) = track_ids(session)
    built = NewJob(session_id=other, kind="transcribe", needs=(track,))
    [(job_id, _)] = enqueue_jobs(guild, jobs=[built])
    for lease in [*running_jobs(session), *running_jobs(other)]:
        complete(lease)
    hold_session(other, guild_id=guild, reason="", caller=caller())
    move_session(session, guild_id=guild, place=Place.LAST, caller=caller())

    requeue_job(track, guild_id=guild, caller=caller())

    again = stored_job(job_id, session_id=other)
    assert (again.state, again.priority, again.held) == ("pending", 0, True)
    assert numbers(guild) == {session: 1, other: 0}
    assert not stored_job(track, session_id=session).held


def test_a_job_requeued_while_it_ran_out_of_attempts_has_all_of_them_again(guild: GuildId) -> None:
    session = dead_session(guild)

    requeue_session(session, guild_id=guild, caller=caller())
    (lease,) = running_jobs(session)

    assert lease.job.attempt == 1
    assert lease.token == 2


def test_cancel_ends_everything_outstanding_and_nothing_else(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=3)
    done, running = running_jobs(session, n=2)
    complete(done)

    cancelled = cancel_session(session, guild_id=guild, caller=caller())

    assert cancelled == tuple(job.id for job in session_jobs(session))[1:]
    assert states(session) == ["done", "cancelled", "cancelled", "cancelled"]
    assert running.job.id in cancelled


def test_a_cancelled_workers_next_word_is_refused_as_cancelled(guild: GuildId) -> None:
    session = stored_session(guild)
    (lease,) = running_jobs(session)

    cancel_job(lease.job.id, guild_id=guild, caller=caller())

    token = lease.token
    with pytest.raises(LeaseCancelled):
        extend_lease(lease.job.id, token=token, principal=WORKER, ttl_s=60)
    with pytest.raises(LeaseCancelled):
        complete(lease)
    with pytest.raises(LeaseCancelled):
        fail_job(lease.job.id, token=token, principal=WORKER, error="late", jitter=0.0)
    with pytest.raises(LeaseCancelled):
        release_job(lease.job.id, token=token, principal=WORKER)
    assert states(session) == ["cancelled", "pending"]


def test_after_a_requeue_the_cancelled_workers_token_is_merely_stale(guild: GuildId) -> None:
    session = stored_session(guild)
    (lease,) = running_jobs(session)
    cancel_job(lease.job.id, guild_id=guild, caller=caller())

    requeue_job(lease.job.id, guild_id=guild, caller=caller())

    with pytest.raises(StaleLease):
        complete(lease)
    assert states(session) == ["pending", "pending"]


def test_a_finished_session_or_job_cannot_be_cancelled(guild: GuildId) -> None:
    session = done_session(guild)
    versions = row_versions()

    with pytest.raises(NothingOutstanding):
        cancel_session(session, guild_id=guild, caller=caller())
    with pytest.raises(NothingOutstanding):
        cancel_job(track_ids(session)[0], guild_id=guild, caller=caller())

    assert row_versions() == versions


def test_a_lane_job_that_is_cancelled_leaves_the_lane(guild: GuildId) -> None:
    session = stored_session(guild)
    put_in_lane(track_ids(session))
    write("UPDATE guildqueue_job SET bump_named = true WHERE bump_seq IS NOT NULL")

    cancel_session(session, guild_id=guild, caller=caller())

    assert {(job.bump_seq, job.bump_named) for job in session_jobs(session)} == {(None, False)}


def test_requeue_and_cancel_are_recorded_with_their_jobs(guild: GuildId) -> None:
    session = stored_session(guild, title="planning")
    jobs = [str(job.id) for job in session_jobs(session)]

    cancel_session(session, guild_id=guild, caller=caller("björk"))
    requeue_session(session, guild_id=guild, caller=caller("ivo"))

    expected = {"session_id": str(session), "title": "planning", "jobs": jobs}
    assert [(r.type, r.by, dict(r.changed)) for r in reversed(events_page(guild))] == [
        ("Cancelled", "user:björk", expected),
        ("Requeued", "user:ivo", expected),
    ]
