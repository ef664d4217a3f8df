"""What a worker's lease is worth: killed, stopped, cancelled and starved workers."""

import os
import signal
import time
from collections import Counter

import pytest
from django.db import connection

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Job, JobState
from guildqueue.domain.snapshot import SessionState
from guildqueue.services.browse import session_detail
from guildqueue.services.cancel import cancel_session
from tests import builders
from tests.db.worker_process import Workers, is_alive, until


@pytest.fixture
def guild_id(committed_db: None) -> GuildId:
    return builders.stored_guild()


def first_job(session_id: SessionId) -> Job:
    return builders.session_jobs(session_id)[0]


def test_kill_9_costs_a_lease_and_nothing_else(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="sleep:60")
    job_id = first_job(session_id).id
    doomed = workers.start()
    until(lambda: workers.runs() == [f"{job_id}-1"])
    handler = workers.handler_pid(f"{job_id}-1")

    os.kill(doomed.pid, signal.SIGKILL)

    until(lambda: not is_alive(handler), patience_s=5)
    workers.start()
    until(lambda: f"{job_id}-2" in workers.runs(), patience_s=1.5 + 10)
    job = first_job(session_id)
    assert (job.state, job.attempt, job.run_after) == (JobState.RUNNING, 2, None)


def test_a_lease_lost_at_the_last_attempt_ends_the_job_with_the_reason(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="talk:x")
    for _ in range(first_job(session_id).max_attempts):
        builders.running_jobs(session_id, principal="account:gone@host/7")
        builders.expire_lease(first_job(session_id).id)

    workers.run_once()

    job = first_job(session_id)
    assert job.state == JobState.DEAD
    assert job.error == "the worker account:gone@host/7 was lost at attempt 5 of 5"


def test_sigterm_hands_the_job_back_and_its_attempt_with_it(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="sleep:60")
    job_id = first_job(session_id).id
    worker = workers.start(QUEUE_STOP_GRACE_SECONDS="0.5")
    until(lambda: workers.runs() == [f"{job_id}-1"])

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(10) == 0
    job = first_job(session_id)
    assert (job.state, job.attempt) == (JobState.PENDING, 0)
    assert not is_alive(workers.handler_pid(f"{job_id}-1"))


def test_sigterm_leaves_a_handler_its_grace_to_finish(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="wait:word")
    other = builders.stored_session(guild_id, uri="talk:x")
    worker = workers.start(QUEUE_STOP_GRACE_SECONDS="20")
    until(lambda: len(workers.runs()) == 1)

    # As a service manager does it: every process of the group gets the signal.
    os.killpg(worker.pid, signal.SIGTERM)
    os.kill(workers.handler_pid(workers.runs()[0]), signal.SIGTERM)
    until(lambda: "worker stopping" in workers.log)
    workers.allow("word")

    assert worker.wait(20) == 0
    assert first_job(session_id).state == JobState.DONE
    assert first_job(other).attempt == 0


def test_a_second_signal_ends_the_grace(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="sleep:60")
    worker = workers.start(QUEUE_STOP_GRACE_SECONDS="50")
    until(lambda: len(workers.runs()) == 1)

    worker.send_signal(signal.SIGINT)
    until(lambda: "worker stopping" in workers.log)
    worker.send_signal(signal.SIGINT)

    assert worker.wait(5) == 0
    assert first_job(session_id).state == JobState.PENDING


def test_a_handler_that_never_lets_go_of_its_processor_keeps_its_lease(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="spin:4.5")
    rival = workers.start()
    workers.start()

    until(lambda: first_job(session_id).state == JobState.DONE)

    assert first_job(session_id).attempt == 1
    assert rival.poll() is None


def test_cancelling_stops_the_handler_and_nothing_of_it_is_written(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="sleep:60")
    after = builders.stored_session(guild_id, uri="talk:on")
    job_id = first_job(session_id).id
    workers.start()
    until(lambda: f"{job_id}-1" in workers.runs())
    handler = workers.handler_pid(f"{job_id}-1")

    cancel_session(session_id, guild_id=guild_id, caller=builders.caller())

    until(lambda: not is_alive(handler), patience_s=5)
    until(lambda: session_detail(after).entry.state is SessionState.DONE)
    job = first_job(session_id)
    assert (job.state, job.attempt, job.error, job.result) == (JobState.CANCELLED, 1, None, None)
    assert "Traceback" not in workers.log


def test_a_worker_whose_lease_went_to_another_stops_and_writes_nothing(
    workers: Workers, guild_id: GuildId
) -> None:
    session_id = builders.stored_session(guild_id, uri="sleep:60")
    job_id = first_job(session_id).id
    asleep = workers.start()
    until(lambda: workers.runs() == [f"{job_id}-1"])
    os.kill(asleep.pid, signal.SIGSTOP)
    builders.expire_lease(job_id)
    taken = builders.running_jobs(session_id, ttl_s=60)

    os.kill(asleep.pid, signal.SIGCONT)

    until(lambda: "job lost" in workers.log)
    job = first_job(session_id)
    assert (job.state, job.attempt, job.result) == (JobState.RUNNING, 2, None)
    builders.complete(taken[0])


def test_workers_never_share_a_job(workers: Workers, guild_id: GuildId) -> None:
    sessions = [builders.stored_session(guild_id, n_tracks=4, uri="sleep:0.05") for _ in range(10)]

    started = [workers.start("--once", "--concurrency", "2") for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]

    runs = Counter(run.partition("-")[0] for run in workers.runs())
    assert set(runs.values()) == {1}
    assert len(runs) == 40
    assert {session_detail(s).entry.state for s in sessions} == {SessionState.DONE}


def test_a_worker_outlasts_a_database_that_goes_away(workers: Workers, guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id, uri="wait:word")
    worker = workers.start(TEST_LEASE_SECONDS="30")
    until(lambda: len(workers.runs()) == 1)
    workers.allow("word")

    end_at = time.monotonic() + 3
    while time.monotonic() < end_at:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        time.sleep(0.01)

    until(lambda: session_detail(session_id).entry.state is SessionState.DONE)
    assert first_job(session_id).attempt == 1
    assert worker.poll() is None
    assert "database away" in workers.log
    assert "database back" in workers.log


def test_only_the_named_guild_and_kind_are_taken(workers: Workers, guild_id: GuildId) -> None:
    other_guild = builders.stored_guild(builders.MAGPIE, name="Magpie Collective")
    mine = builders.stored_session(guild_id, uri="talk:x")
    other = builders.stored_session(other_guild, uri="talk:x")

    workers.run_once("-g", str(guild_id), "--kinds", "transcribe")

    assert [job.state for job in builders.session_jobs(mine)] == [JobState.DONE, JobState.PENDING]
    assert {job.attempt for job in builders.session_jobs(other)} == {0}
