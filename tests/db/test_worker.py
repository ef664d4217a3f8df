"""The worker on a real database, with real processes: what becomes of a job."""

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import JobState
from guildqueue.domain.snapshot import SessionState
from guildqueue.services.browse import session_detail
from tests import builders
from tests.db.worker_process import Workers, until


@pytest.fixture
def guild_id(committed_db: None) -> GuildId:
    return builders.stored_guild()


def test_a_meeting_goes_in_and_its_document_comes_out(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(
        guild_id, participants=["ada", "ivo"], n_tracks=2, uri="talk:hello", audio_seconds=None
    )

    assert workers.run_once() == 0

    detail = session_detail(session_id)
    assert detail.entry.state is SessionState.DONE
    assert [track.job.audio_seconds for track in detail.tracks] == [12.5, 12.5]
    assert detail.document is not None
    assert detail.document.job.result == {"tracks": ["ada: hello", "ivo: hello"]}


def test_jobs_are_done_in_the_order_of_the_queue(workers: Workers, guild_id: GuildId) -> None:
    sessions = [builders.stored_session(guild_id, uri="talk:x") for _ in range(3)]

    workers.run_once("--kinds", "transcribe")

    ended = [session_detail(s).tracks[0].job.finished_at for s in sessions]
    assert None not in ended
    assert ended == sorted(moment for moment in ended if moment)


def test_a_handler_that_raises_is_tried_again_and_then_dies_with_the_reason(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="raise:no such thing")
    (track,) = builders.track_ids(session_id)

    workers.start()
    until(lambda: builders.stored_job(track, session_id=session_id).state == JobState.DEAD)

    job = builders.stored_job(track, session_id=session_id)
    assert job.attempt == job.max_attempts
    assert job.error == "ValueError: no such thing second line\\x1b[31m"
    assert "Traceback (most recent call last)" in workers.log
    assert session_detail(session_id).entry.state is SessionState.DEAD


def test_what_no_retry_can_mend_is_dead_at_once(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="give-up:no audio in it")

    workers.run_once()

    job = builders.session_jobs(session_id)[0]
    assert (job.state, job.attempt, job.error) == (JobState.DEAD, 1, "no audio in it")


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("kill", "the handler was killed (signal 9)"),
        ("vanish:3", "the handler ended without a result (exit 3)"),
        ("exit:4", "SystemExit: 4"),
        ("result:set", "TypeError: Object of type set is not JSON serializable"),
        ("result:big", "ValueError: a result of "),
        ("result:length", "ValueError: audio_seconds is inf"),
    ],
)
def test_however_a_handler_ends_the_reason_is_kept_and_the_next_job_is_done(
    workers: Workers, guild_id: GuildId, uri: str, error: str
) -> None:
    broken = builders.stored_session(guild_id, uri=uri)
    sound = builders.stored_session(guild_id, uri="talk:on")

    workers.start()
    until(lambda: session_detail(sound).entry.state is SessionState.DONE)
    until(lambda: session_detail(broken).entry.state is SessionState.DEAD)

    job = builders.session_jobs(broken)[0]
    assert job.error is not None
    assert job.error.startswith(error)
    assert job.attempt == job.max_attempts


def test_a_worker_that_cannot_do_the_work_hands_the_job_back_and_ends(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="unfit:no speech model here")

    assert workers.run_once() == 1

    job = builders.session_jobs(session_id)[0]
    assert (job.state, job.attempt) == (JobState.PENDING, 0)
    assert workers.log.endswith("Broken: this worker cannot work: no speech model here\n")


def test_a_handler_has_no_way_to_the_database(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="environment")

    workers.run_once(
        PGPASSWORD="p", TEST_DATABASE_URL="postgresql://x", GUILDQUEUE_SECRET_KEY="s" * 60,
        SOMEBODYS_DSN="postgresql://elsewhere", WHISPER_THREADS="3",
    )  # fmt: skip

    result = builders.session_jobs(session_id)[0].result
    assert result is not None
    names = result["did"]
    assert {"GUILDQUEUE_MEDIA_ROOT", "WHISPER_MODEL", "WHISPER_THREADS", "PATH"} <= set(names)
    forbidden = ("DATABASE", "PG", "GUILDQUEUE_SECRET", "GUILDQUEUE_DATA", "DJANGO", "SOMEBODYS")
    assert not [name for name in names if name.startswith(forbidden)]
    assert not [value for value in result["values"] if "postgres" in value]


def test_progress_is_seen_while_the_job_runs(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="half:60")

    workers.start()

    until(lambda: builders.session_jobs(session_id)[0].progress == 0.5)
    assert builders.session_jobs(session_id)[0].state == JobState.RUNNING
