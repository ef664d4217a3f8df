"""Workers that claim many jobs at once, with real processes: each job is still one of its own."""

import os
import signal
import time
from collections.abc import Sequence

import pytest
from django.db import connection

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Job, JobState
from guildqueue.services.cancel import cancel_session
from tests import builders
from tests.db.worker_process import Workers, is_alive, until

BATCH = ("--batch", "10", "--kinds", "transcribe")


@pytest.fixture
def guild_id(committed_db: None) -> GuildId:
    return builders.stored_guild()


def sessions_of(guild_id: GuildId, *uris: str) -> list[SessionId]:
    return [builders.stored_session(guild_id, uri=uri) for uri in uris]


def track(session_id: SessionId) -> Job:
    return builders.session_jobs(session_id)[0]


def runs_of(sessions: Sequence[SessionId], *, token: int = 1) -> list[str]:
    return [f"{track(session_id).id}-{token}" for session_id in sessions]


def states(sessions: Sequence[SessionId]) -> list[tuple[str, int]]:
    """State and attempts of each one's track."""
    return [(job.state, job.attempt) for job in map(track, sessions)]


def test_jobs_of_a_batch_are_done_in_the_order_of_the_turns(
    workers: Workers, guild_id: GuildId
) -> None:
    other_guild = builders.stored_guild(builders.MAGPIE, name="Magpie Collective")
    mine = sessions_of(guild_id, *["talk:x"] * 6)
    others = sessions_of(other_guild, *["talk:x"] * 6)

    workers.run_once(*BATCH)

    in_turn = [session for pair in zip(mine, others, strict=True) for session in pair]
    begun = sorted(workers.runs(), key=workers.began_at)
    assert begun == runs_of(in_turn)


def test_a_hundred_jobs_in_batches_of_ten_are_all_done_once(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = [
        builders.stored_session(guild_id, uri="talk:x", n_tracks=10, audio_seconds=None)
        for _ in range(10)
    ]

    workers.run_once(*BATCH)

    jobs = [job for session in sessions for job in builders.session_jobs(session)[:10]]
    assert {(job.state, job.attempt, job.audio_seconds) for job in jobs} == {("done", 1, 12.5)}
    assert sorted(workers.runs()) == sorted(f"{job.id}-1" for job in jobs)
    assert len({workers.handler_pid(run) for run in workers.runs()}) == 1


def test_one_that_fails_in_the_middle_touches_no_other(workers: Workers, guild_id: GuildId) -> None:
    sessions = sessions_of(guild_id, "talk:x", "give-up:no audio", "talk:y")

    workers.run_once(*BATCH)

    assert states(sessions) == [("done", 1), ("dead", 1), ("done", 1)]
    assert track(sessions[1]).error == "no audio"
    assert len({workers.handler_pid(run) for run in workers.runs()}) == 1


def test_a_killed_handler_fails_its_job_and_the_rest_is_begun_in_another(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "talk:x", "talk:y", "kill", "talk:z")
    before, _, _, after = runs_of(sessions)

    workers.start(*BATCH)
    until(lambda: track(sessions[2]).state == JobState.DEAD)
    until(lambda: track(sessions[3]).state == JobState.DONE)

    assert [attempt for _, attempt in states(sessions)] == [1, 1, 5, 1]
    assert track(sessions[2]).error == "the handler was killed (signal 9)"
    assert workers.handler_pid(before) != workers.handler_pid(after)


def test_what_is_done_is_written_while_a_slow_job_of_the_batch_runs(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "talk:x", "give-up:no audio", "wait:word", "talk:y")

    workers.start(*BATCH, TEST_LEASE_SECONDS="60")
    until(lambda: len(workers.runs()) == 3)

    until(lambda: track(sessions[0]).state == JobState.DONE, patience_s=2)
    assert states(sessions)[1:] == [("dead", 1), ("running", 1), ("running", 1)]


def test_the_leases_of_all_that_waits_are_kept_alive(workers: Workers, guild_id: GuildId) -> None:
    sessions = sessions_of(guild_id, "half:4.5", "talk:x", "talk:y")
    workers.start(*BATCH)
    until(lambda: len(workers.runs()) == 1)
    workers.start(*BATCH)

    until(lambda: track(sessions[0]).progress == 0.5)
    until(lambda: track(sessions[2]).state == JobState.DONE)

    assert states(sessions) == [("done", 1)] * 3


def test_one_that_is_cancelled_before_it_began_is_not_begun(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "wait:word", "talk:x", "talk:y")
    workers.start(*BATCH)
    until(lambda: len(workers.runs()) == 1)

    cancel_session(sessions[1], guild_id=guild_id, caller=builders.caller())
    until(lambda: "job lost" in workers.log)
    workers.allow("word")

    until(lambda: track(sessions[2]).state == JobState.DONE)
    assert states(sessions) == [("done", 1), ("cancelled", 1), ("done", 1)]
    assert sorted(workers.runs()) == sorted([runs_of(sessions)[0], runs_of(sessions)[2]])
    assert len({workers.handler_pid(run) for run in workers.runs()}) == 1


def test_one_that_is_cancelled_while_it_runs_is_stopped_and_the_rest_is_done(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "talk:x", "sleep:60", "talk:y")
    workers.start(*BATCH)
    until(lambda: len(workers.runs()) == 2)
    handler = workers.handler_pid(runs_of(sessions)[1])

    cancel_session(sessions[1], guild_id=guild_id, caller=builders.caller())

    until(lambda: track(sessions[2]).state == JobState.DONE)
    assert states(sessions) == [("done", 1), ("cancelled", 1), ("done", 1)]
    assert not is_alive(handler)


def test_a_lease_that_went_to_another_before_its_job_began_is_left_to_it(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "wait:word", "talk:x", "talk:y")
    asleep = workers.start(*BATCH, TEST_LEASE_SECONDS="6")
    until(lambda: len(workers.runs()) == 1)
    os.kill(asleep.pid, signal.SIGSTOP)
    builders.expire_lease(track(sessions[1]).id)
    (taken,) = builders.running_jobs(sessions[1])

    os.kill(asleep.pid, signal.SIGCONT)
    until(lambda: "job lost" in workers.log)
    workers.allow("word")

    until(lambda: track(sessions[2]).state == JobState.DONE)
    assert states(sessions) == [("done", 1), ("running", 2), ("done", 1)]
    assert len(workers.runs()) == 2
    builders.complete(taken)


def test_sigterm_hands_back_at_once_what_was_not_begun(workers: Workers, guild_id: GuildId) -> None:
    sessions = sessions_of(guild_id, "talk:x", "wait:word", "talk:y", "talk:z")
    worker = workers.start(*BATCH, QUEUE_STOP_GRACE_SECONDS="20")
    until(lambda: len(workers.runs()) == 2)

    worker.send_signal(signal.SIGTERM)
    until(lambda: states(sessions)[2:] == [("pending", 0)] * 2, patience_s=5)

    assert track(sessions[1]).state == JobState.RUNNING
    workers.allow("word")
    assert worker.wait(10) == 0
    assert states(sessions) == [("done", 1), ("done", 1), ("pending", 0), ("pending", 0)]


def test_what_runs_when_the_grace_ends_is_handed_back_too(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, "talk:x", "sleep:60", "talk:y")
    worker = workers.start(*BATCH, QUEUE_STOP_GRACE_SECONDS="0.5")
    until(lambda: len(workers.runs()) == 2)

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(10) == 0
    assert states(sessions) == [("done", 1), ("pending", 0), ("pending", 0)]
    assert not is_alive(workers.handler_pid(runs_of(sessions)[1]))


def test_an_unfit_worker_hands_back_all_of_its_batch(workers: Workers, guild_id: GuildId) -> None:
    sessions = sessions_of(guild_id, "talk:x", "unfit:no speech model", "sleep:60")

    assert workers.run_once(*BATCH) == 1

    assert states(sessions) == [("done", 1), ("pending", 0), ("pending", 0)]


def test_a_database_that_goes_away_in_mid_batch_costs_no_attempt(
    workers: Workers, guild_id: GuildId
) -> None:
    sessions = sessions_of(guild_id, *["sleep:0.1"] * 25)
    worker = workers.start(*BATCH, TEST_LEASE_SECONDS="30")
    until(lambda: len(workers.runs()) > 2)

    end_at = time.monotonic() + 3
    while time.monotonic() < end_at:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        time.sleep(0.01)

    until(lambda: states(sessions) == [("done", 1)] * 25)
    assert len(workers.runs()) == 25
    assert worker.poll() is None


def test_a_cap_holds_for_what_is_claimed_ahead(workers: Workers, committed_db: None) -> None:
    sessions = sessions_of(builders.stored_guild(running_cap=2), *["wait:word"] * 3)
    workers.start(*BATCH)
    workers.start(*BATCH)
    until(lambda: len(workers.runs()) >= 1)

    time.sleep(0.5)  # both have polled again

    assert states(sessions) == [("running", 1), ("running", 1), ("pending", 0)]
    workers.allow("word")
    until(lambda: states(sessions) == [("done", 1)] * 3)


def test_few_jobs_are_shared_out_among_the_places(workers: Workers, guild_id: GuildId) -> None:
    sessions = sessions_of(guild_id, "wait:word", "wait:word")

    workers.start(*BATCH, "--concurrency", "2")

    until(lambda: len(workers.runs()) == 2)
    workers.allow("word")
    until(lambda: states(sessions) == [("done", 1)] * 2)
