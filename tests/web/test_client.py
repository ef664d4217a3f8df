"""The Python client against consoles in processes of their own."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from guildqueue.client import AsyncClient, Client, ConsoleAway, JobFilter, LeaseLost, RequestFailed
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.token import Verb
from guildqueue.services.cancel import cancel_session
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.web.streams import PROJECT, Server, serving, wait_for

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def token(guild: GuildId) -> str:
    verbs = [Verb.READ, Verb.CLAIM]
    return issue_token("a worker", guild_ids=[guild], verbs=verbs)


@pytest.fixture
def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def client(url: str, token: str) -> Iterator[Client]:
    with Client(url, token) as opened:
        yield opened


def states(session: SessionId) -> list[str]:
    return [job.state for job in builders.session_jobs(session)]


def test_a_loop_over_leases_works_until_there_is_nothing_more(
    client: Client, guild: GuildId
) -> None:
    session = builders.stored_session(guild, n_tracks=3)
    ready = [job["job_id"] for job in client.ready()]

    seen = []
    for lease in client.leases(wait_s=0):
        seen.append(lease.job["job_id"])
        lease.complete({"words": 3})

    assert seen[:3] == ready
    assert states(session) == ["done"] * 4
    assert [job["job_id"] for job in client.jobs()] == seen


def test_a_filter_holds_for_the_loop(client: Client, guild: GuildId) -> None:
    session = builders.stored_session(guild)

    kinds = frozenset({"document"})

    assert list(client.leases(JobFilter(kinds=kinds), wait_s=0)) == []
    assert states(session) == ["pending", "pending"]


def test_a_busy_job_outlives_its_lease_as_heartbeats_go_on(client: Client, guild: GuildId) -> None:
    session = builders.stored_session(guild)
    (lease,) = client.claim(ttl_s=1.0)

    ends_at, rounds = time.monotonic() + 3.0, 0
    while time.monotonic() < ends_at:
        rounds += 1
    lease.report(0.5)
    lease.complete()

    assert rounds > 1000
    assert states(session)[0] == "done"


def test_a_cancelled_job_is_lost_at_the_next_call(client: Client, guild: GuildId) -> None:
    session = builders.stored_session(guild)
    (lease,) = client.claim()
    cancel_session(session, guild_id=guild, caller=builders.caller())

    with pytest.raises(LeaseLost) as lost:
        lease.complete({"words": 3})

    assert lost.value.reason == "cancelled"


def test_a_heartbeat_that_is_refused_is_raised_at_the_next_call(
    client: Client, guild: GuildId
) -> None:
    session = builders.stored_session(guild)
    (lease,) = client.claim(ttl_s=1.0)
    cancel_session(session, guild_id=guild, caller=builders.caller())

    wait_for(lambda: client.heart.all_held() == [])

    for call in (lease.check, lambda: lease.report(0.5), lease.complete):
        with pytest.raises(LeaseLost):
            call()


def test_what_the_loop_does_not_end_is_handed_back(client: Client, guild: GuildId) -> None:
    session = builders.stored_session(guild)

    for _ in client.leases(wait_s=0):
        break
    client.close()

    job = builders.session_jobs(session)[0]
    assert (job.state, job.attempt) == ("pending", 0)


def test_a_failed_job_says_what_becomes_of_it(client: Client, guild: GuildId) -> None:
    builders.stored_session(guild, n_tracks=2)
    first, second = client.claim(count=2)

    assert first.fail("no speech") == "pending"
    assert second.fail("no audio", permanent=True) == "dead"


def test_ctrl_c_hands_the_job_back(url: str, token: str, guild: GuildId) -> None:
    session = builders.stored_session(guild)
    command = [sys.executable, "-m", "tests.web.client_scripts", url, token]
    worker = subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline().startswith("at work on")

    worker.send_signal(signal.SIGINT)
    _, told = worker.communicate(timeout=20)

    assert "KeyboardInterrupt" in told
    job = builders.session_jobs(session)[0]
    assert (job.state, job.attempt) == ("pending", 0)


def test_a_claim_waits_for_work(client: Client, guild: GuildId) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.claim, wait_s=30.0)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.5)
        session = builders.stored_session(guild)
        (lease,) = waiting.result(timeout=20)

    assert lease.job["session_id"] == str(session)


def test_a_wait_for_nothing_ends_in_time_with_nothing(client: Client) -> None:
    began = time.monotonic()

    assert client.claim(wait_s=1.5) == []

    assert 1.4 < time.monotonic() - began < 10


def test_claims_that_wait_hold_no_connection_and_no_thread(
    server: Server, client: Client, guild: GuildId
) -> None:
    """Sixty of them, where a pool has ten connections, and others are answered as ever."""
    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(client.claim, wait_s=6.0) for _ in range(60)]
        wait_for(lambda: _n_open(server) >= 60)
        began = time.monotonic()
        assert client.ready() == []
        took_s = time.monotonic() - began
        assert [claim.result(timeout=30) for claim in waiting] == [[]] * 60

    assert took_s < 5


def _n_open(server: Server) -> int:
    tables = subprocess.run(
        ["cat", f"/proc/{server.process.pid}/net/tcp"], capture_output=True, text=True, check=True
    ).stdout
    local = f"0100007F:{server.port:04X}"
    return sum(line.split()[1] == local and line.split()[3] == "01" for line in tables.splitlines())


def test_what_the_token_may_not_is_raised_with_the_reason(url: str, guild: GuildId) -> None:
    reader = issue_token("a reader", guild_ids=[guild], verbs=[Verb.READ])

    with Client(url, reader) as client, pytest.raises(RequestFailed) as failed:
        next(client.leases())

    assert failed.value.status == 403


def test_a_console_that_is_not_there_is_said_to_be_away(token: str) -> None:
    with Client("http://127.0.0.1:9", token) as client, pytest.raises(ConsoleAway):
        client.claim()


def test_an_asynchronous_loop_works_the_same(url: str, token: str, guild: GuildId) -> None:
    session = builders.stored_session(guild, n_tracks=2)

    async def work() -> None:
        async with AsyncClient(url, token) as client:
            async for lease in client.leases(wait_s=0):
                lease.report(0.5)
                await lease.complete()

    asyncio.run(work())

    assert states(session) == ["done"] * 3


def test_a_cancelled_task_hands_its_job_back(url: str, token: str, guild: GuildId) -> None:
    session = builders.stored_session(guild)

    async def work(begun: asyncio.Event) -> None:
        async with AsyncClient(url, token) as client:
            async for _ in client.leases(wait_s=0):
                begun.set()
                await asyncio.sleep(60)

    async def cancelled() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(work(begun))
        await asyncio.wait_for(begun.wait(), timeout=20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

    job = builders.session_jobs(session)[0]
    assert (job.state, job.attempt) == ("pending", 0)


def test_a_server_that_stops_answers_who_waits(
    token: str, tmp_path_factory: pytest.TempPathFactory, database_url: str
) -> None:
    folder = tmp_path_factory.mktemp("stopping")
    with (
        serving("uvicorn", folder, database_url) as server,
        Client(f"http://127.0.0.1:{server.port}", token) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        waiting = pool.submit(client.claim, wait_s=60.0)
        wait_for(lambda: _n_open(server) >= 1)
        server.stop(patience_s=15)

        assert waiting.exception(timeout=15) is not None or waiting.result() == []


def test_the_client_needs_no_django() -> None:
    asked = "import guildqueue.client, sys; sys.exit('django' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", asked], cwd=PROJECT, check=False).returncode == 0
