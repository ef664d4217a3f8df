"""Claims that wait for work over HTTP, polled so seldom that what they get was heard of."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from guildqueue.client import Client, JobFilter
from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_job import NewJob
from guildqueue.domain.token import Verb
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.db.wake_words import LISTENING, backends, elsewhere, end_backends
from tests.web.streams import SERVERS, Server, serving, wait_for

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture(params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_url: str
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("waiting")
    with serving(request.param, folder, database_url, QUEUE_POLL_SECONDS="30") as running:
        yield running


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def client(server: Server, guild: GuildId) -> Iterator[Client]:
    token = issue_token("a worker", guild_ids=[guild], verbs=[Verb.READ, Verb.CLAIM])
    with Client(f"http://127.0.0.1:{server.port}", token) as opened:
        yield opened


def waiting(pool: ThreadPoolExecutor, client: Client, *wanted: JobFilter) -> "Future[list[Any]]":
    return pool.submit(client.claim, *wanted, wait_s=25.0)


def wait_until_heard(database_url: str) -> None:
    wait_for(lambda: backends(database_url, LISTENING) != [])
    time.sleep(0.5)  # whoever waits tries once more when the process begins to hear


def request_lines(server: Server) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    return [line for line in lines if line.get("path") == "/api/claims"]


def test_a_claim_that_waits_gets_what_another_process_enqueues_at_once(
    server: Server, client: Client, guild: GuildId, database_url: str
) -> None:
    session_id = builders.stored_session(guild, n_tracks=0)
    with ThreadPoolExecutor(1) as pool:
        claim = waiting(pool, client)
        wait_until_heard(database_url)

        elsewhere(database_url, "queue", "add", "transcribe", "--session", session_id)
        (lease,) = claim.result(timeout=1)

    assert lease.job["session_id"] == str(session_id)


def test_a_claim_that_waits_is_one_line_in_the_log(
    server: Server, client: Client, guild: GuildId, database_url: str
) -> None:
    with ThreadPoolExecutor(1) as pool:
        claim = waiting(pool, client, JobFilter(kinds=frozenset({"document"})))
        wait_until_heard(database_url)
        builders.stored_session(guild)  # its tracks are for others
        time.sleep(0.5)

        for lease in builders.running_jobs(builders.stored_session(guild)):
            builders.complete(lease)
        assert len(claim.result(timeout=5)) == 1

    (line,) = request_lines(server)
    assert (line["status"], line["method"]) == (200, "POST")
    assert line["duration_ms"] > 500
    assert line["correlation_id"]


def test_those_who_wait_together_share_what_comes_and_one_connection(
    server: Server, client: Client, guild: GuildId, database_url: str
) -> None:
    with ThreadPoolExecutor(30) as pool:
        claims = [waiting(pool, client) for _ in range(30)]
        wait_until_heard(database_url)

        assert len(backends(database_url, LISTENING)) == 1
        session_id = builders.stored_session(guild, n_tracks=30)
        leases = [claim.result(timeout=10) for claim in claims]

    assert sorted(int(lease.job["job_id"]) for (lease,) in leases) == sorted(
        builders.track_ids(session_id)
    )


def test_it_hears_again_after_the_server_ended_its_connection(
    server: Server, client: Client, guild: GuildId, database_url: str
) -> None:
    session_id = builders.stored_session(guild, n_tracks=0)
    with ThreadPoolExecutor(1) as pool:
        claim = waiting(pool, client)
        wait_until_heard(database_url)

        end_backends(database_url, LISTENING)
        enqueue_jobs(guild, jobs=[NewJob(session_id=session_id, kind="transcribe")])

        assert len(claim.result(timeout=5)) == 1


def test_who_does_not_wait_opens_no_connection(
    server: Server, client: Client, database_url: str
) -> None:
    assert client.claim() == []

    assert backends(database_url, LISTENING) == []
