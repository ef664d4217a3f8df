"""Idle workers that are told of new work: so seldom polling here that what starts was heard of."""

import time
from pathlib import Path

import pytest

from guildqueue.domain.ids import SessionId
from guildqueue.domain.job import JobState
from guildqueue.domain.new_job import NewJob
from guildqueue.services.enqueue import enqueue_jobs
from tests import builders
from tests.db.wake_words import LISTENING, backends, elsewhere, end_backends
from tests.db.worker_process import Workers, until
from tests.web.wire import Mode, wire_to

SELDOM = {"QUEUE_POLL_SECONDS": "30"}
PAYLOAD = '{"uri": "talk:x"}'


@pytest.fixture
def session_id(committed_db: None) -> SessionId:
    """A meeting with nothing for a worker in it."""
    return builders.stored_session(builders.stored_guild(), n_tracks=0)


def started_idle(workers: Workers, database_url: str, **environment: str) -> None:
    """A worker that has looked for work, found none and hears."""
    workers.start("--kinds", "transcribe", **SELDOM, **environment)
    until(lambda: backends(database_url, LISTENING) != [])
    time.sleep(0.5)  # it looks once more when it begins to hear


def begins_within(workers: Workers, seconds: float, *, n_runs: int) -> None:
    until(lambda: len(workers.runs()) == n_runs, patience_s=seconds)


def test_it_starts_what_another_process_enqueues_within_a_second(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    started_idle(workers, database_url)

    words = ("queue", "add", "transcribe", "--session", session_id, "--payload", PAYLOAD)
    elsewhere(database_url, *words)

    # Its handlers' process begins with the first job and is there for the second.
    begins_within(workers, 3, n_runs=1)
    until(lambda: builders.session_jobs(session_id)[0].state == JobState.DONE)
    elsewhere(database_url, *words)
    begins_within(workers, 1, n_runs=2)


def test_it_hears_again_after_the_server_ended_its_connection(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    started_idle(workers, database_url)

    ended = end_backends(database_url, LISTENING)
    until(lambda: backends(database_url, LISTENING) not in ([], ended))
    time.sleep(0.5)
    elsewhere(
        database_url, "queue", "add", "transcribe", "--session", session_id, "--payload", PAYLOAD
    )

    begins_within(workers, 3, n_runs=1)
    until(lambda: "new work is heard of at once again" in workers.log)
    assert workers.log.count("new work is polled for, not heard of") == 1


def test_what_came_while_it_did_not_hear_is_found_when_it_does(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    started_idle(workers, database_url)

    end_backends(database_url, LISTENING)
    enqueue(session_id)

    begins_within(workers, 5, n_runs=1)


def test_where_nothing_can_be_heard_it_polls(
    workers: Workers, session_id: SessionId, tmp_path: Path
) -> None:
    away = f"postgresql://nobody@/none?host={tmp_path}"
    workers.start(QUEUE_POLL_SECONDS="0.5", LISTEN_DATABASE_URL=away)
    until(lambda: "new work is polled for, not heard of" in workers.log)

    enqueue(session_id)

    begins_within(workers, 3, n_runs=1)
    assert workers.log.count("new work is polled for, not heard of") == 1


def test_behind_a_pooler_that_passes_nothing_on_it_warns_once_and_polls(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    with wire_to(database_url) as wire:
        wire.set(Mode.DEAF)
        workers.start(QUEUE_POLL_SECONDS="0.5", LISTEN_DATABASE_URL=wire.url)
        until(lambda: "is LISTEN_DATABASE_URL a direct address?" in workers.log)

        enqueue(session_id)

        begins_within(workers, 3, n_runs=1)
        assert workers.log.count("new work is polled for, not heard of") == 1


def test_a_connection_that_goes_silent_costs_no_lease_and_no_stop(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    with wire_to(database_url) as wire:
        worker = workers.start(
            "--concurrency", "2", QUEUE_POLL_SECONDS="0.5", LISTEN_DATABASE_URL=wire.url
        )
        until(lambda: backends(database_url, LISTENING) != [])
        wire.set(Mode.SILENT)

        enqueue(session_id, uri="sleep:3")  # twice its lease

        until(lambda: builders.session_jobs(session_id)[0].state == JobState.DONE)
        assert builders.session_jobs(session_id)[0].attempt == 1
        worker.terminate()
        assert worker.wait(5) == 0


def test_with_wake_ups_off_it_only_polls(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    workers.start(QUEUE_POLL_SECONDS="0.5", QUEUE_WAKE_UPS="false")
    until(lambda: "worker started" in workers.log)
    time.sleep(1)

    enqueue(session_id)

    begins_within(workers, 3, n_runs=1)
    assert backends(database_url, LISTENING) == []


def test_a_worker_that_stops_leaves_no_connection(
    workers: Workers, session_id: SessionId, database_url: str
) -> None:
    started_idle(workers, database_url)
    (worker,) = workers.started

    worker.terminate()

    assert worker.wait(10) == 0
    assert backends(database_url, LISTENING) == []


def enqueue(session_id: SessionId, *, uri: str = "talk:x") -> None:
    job = NewJob(session_id=session_id, kind="transcribe", payload={"uri": uri})
    enqueue_jobs(builders.STARLING, jobs=[job])
