"""``queue claim --wait`` and an agent's ``wait``, polled so seldom that they must be told."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from guildqueue.domain.ids import SessionId
from guildqueue.domain.new_job import NewJob
from guildqueue.services.enqueue import enqueue_jobs
from tests import builders
from tests.db.command import queue
from tests.db.races import elsewhere
from tests.db.wake_words import LISTENING, backends
from tests.db.worker_process import PROJECT, until

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def session_id(committed_db: None) -> SessionId:
    """A meeting with nothing for a worker in it."""
    return builders.stored_session(builders.stored_guild(), n_tracks=0)


@pytest.fixture
def environment(database_url: str, tmp_path: Path) -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "GUILDQUEUE_DATA_DIR": str(tmp_path / "data"),
        "QUEUE_POLL_SECONDS": "30",
    }


@contextmanager
def claiming(environment: dict[str, str], *words: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "queue", "claim", *words],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until_heard(database_url: str) -> None:
    until(lambda: backends(database_url, LISTENING) != [])
    time.sleep(0.5)  # whoever waits tries once more when the process begins to hear


def enqueue(session_id: SessionId) -> None:
    enqueue_jobs(builders.STARLING, jobs=[NewJob(session_id=session_id, kind="transcribe")])


def test_a_command_that_waits_gets_what_comes_at_once(
    session_id: SessionId, environment: dict[str, str], database_url: str
) -> None:
    with claiming(environment, "--wait", "25", "--json") as process:
        wait_until_heard(database_url)
        assert backends(database_url, "guildqueue manage.py") == []

        enqueue(session_id)
        out, err = process.communicate(timeout=3)

    assert (process.returncode, err) == (0, "")
    (lease,) = json.loads(out)["leases"]
    assert lease["job"]["session_id"] == str(session_id)
    assert backends(database_url, LISTENING) == []


def test_a_command_that_waited_in_vain_ends_in_time(session_id: SessionId) -> None:
    began = time.monotonic()

    assert queue("claim", "--wait", 0.4, "--json").json == {"leases": []}

    assert 0.4 <= time.monotonic() - began < 10


def test_a_command_that_finds_work_does_not_wait(session_id: SessionId) -> None:
    enqueue(session_id)
    began = time.monotonic()

    assert len(queue("claim", "--wait", 60, "--json").json["leases"]) == 1

    assert time.monotonic() - began < 10


@pytest.mark.parametrize("wait", ["61", "-1", "nan", "soon", ""])
def test_a_wait_that_is_none_is_a_usage_error(session_id: SessionId, wait: str) -> None:
    ended = queue("claim", f"--wait={wait}")

    assert (ended.code, ended.out) == (2, "")
    assert "is not a number of seconds up to 60" in ended.err


def test_agents_claims_that_wait_get_what_comes_at_once(
    session_id: SessionId, environment: dict[str, str], database_url: str
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "queue", "mcp"],
        cwd=str(PROJECT),
        env=environment,
    )

    async def work() -> list[object]:
        async with Client(stdio_client(server)) as client:
            claims = [
                asyncio.create_task(client.call_tool("claim", {"wait": 25})) for _ in range(2)
            ]
            await asyncio.to_thread(wait_until_heard, database_url)
            for _ in claims:
                await asyncio.to_thread(elsewhere, lambda: enqueue(session_id))
            answers = await asyncio.wait_for(asyncio.gather(*claims), 3)
            return [answer.structured_content for answer in answers]

    answers = asyncio.run(asyncio.wait_for(work(), 60))

    assert [len(answer["leases"]) for answer in answers] == [1, 1]  # type: ignore[index]
