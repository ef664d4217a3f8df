"""The tools for agents, called by the official client over the command's own stdin and stdout."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.services.browse import events_page
from guildqueue.services.cancel import cancel_session
from tests import builders
from tests.db.lane_requests import lane, rooted_guild
from tests.db.races import elsewhere

pytestmark = pytest.mark.usefixtures("committed_db")
PROJECT = Path(__file__).resolve().parents[2]
Agent = Callable[[Callable[["Tools"], Awaitable[None]]], None]


class Tools:
    """A server's tools, each call answered with its structured content."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, **given: object) -> Any:
        result = await self.client.call_tool(name, given)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, name: str, **given: object) -> Any:
        """What a tool error says: its text, and the word for it."""
        result = await self.client.call_tool(name, given)
        assert result.is_error, result.structured_content
        assert result.structured_content is not None
        assert result.content[0].text == result.structured_content["detail"]  # type: ignore[union-attr]
        return result.structured_content


@pytest.fixture
def agent(database_url: str, tmp_path: Path) -> Agent:
    """Runs an agent's calls against a server of its own."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "queue", "mcp"],
        cwd=str(PROJECT),
        env=os.environ
        | {
            "DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "GUILDQUEUE_DATA_DIR": str(tmp_path / "data"),
        },
    )

    def run(work: Callable[[Tools], Awaitable[None]]) -> None:
        async def session() -> None:
            async with Client(stdio_client(server)) as client:
                await work(Tools(client))

        asyncio.run(asyncio.wait_for(session(), timeout=60))

    return run


@pytest.fixture
def guilds() -> list[GuildId]:
    return [builders.stored_guild(builders.STARLING), builders.stored_guild(builders.MAGPIE)]


@pytest.fixture
def sessions(guilds: list[GuildId]) -> list[SessionId]:
    return [builders.stored_session(guild, n_tracks=2) for guild in guilds]


def test_the_tools_are_those_of_the_contract_and_guilds_is_an_array(agent: Agent) -> None:
    async def work(tools: Tools) -> None:
        listed = {tool.name: tool for tool in (await tools.client.list_tools()).tools}

        assert set(listed) == {
            *("ready", "claim", "job_list", "heartbeat", "complete", "fail", "release"),
            *("move", "bump", "unbump"),
        }
        for name in ("ready", "claim", "job_list"):
            assert listed[name].input_schema["properties"]["guilds"]["type"] == "array"
        assert all(tool.description for tool in listed.values())

    agent(work)


def test_an_agent_takes_what_is_ready_in_turns_and_ends_it(
    agent: Agent, sessions: list[SessionId], guilds: list[GuildId]
) -> None:
    async def work(tools: Tools) -> None:
        ready = [job["job_id"] for job in (await tools.call("ready"))["jobs"]]
        leases = (await tools.call("claim", count=3.0))["leases"]
        assert [lease["job"]["job_id"] for lease in leases] == ready[:3]
        assert [lease["job"]["guild_id"] for lease in leases[:2]] == list(map(str, guilds))
        first, second, third = (
            {"job_id": lease["job"]["job_id"], "token": lease["token"]} for lease in leases
        )

        assert (await tools.call("heartbeat", **first, ttl=600, progress=0.5))["expires_at"]
        assert await tools.call("complete", **first, result={"words": 3}) == {"state": "done"}
        assert await tools.call("fail", **second, error="x", permanent=True) == {"state": "dead"}
        assert await tools.call("release", **third) == {"state": "pending"}

        listed = await tools.call("job_list", guilds=[str(guilds[0])], states=["done"])
        assert [job["job_id"] for job in listed["jobs"]] == [first["job_id"]]

    agent(work)


def test_a_page_of_jobs_gives_the_next(agent: Agent, sessions: list[SessionId]) -> None:
    async def work(tools: Tools) -> None:
        first = await tools.call("job_list", limit=4)
        second = await tools.call("job_list", limit=4, after=first["after"])

        assert [len(first["jobs"]), len(second["jobs"])] == [4, 2]
        assert second["after"] is None

    agent(work)


def test_a_refusal_is_a_tool_error_with_its_reason(
    agent: Agent, sessions: list[SessionId], guilds: list[GuildId]
) -> None:
    async def work(tools: Tools) -> None:
        (lease,) = (await tools.call("claim", guilds=[guilds[0]]))["leases"]
        held = {"job_id": lease["job"]["job_id"], "token": lease["token"]}
        stale = await tools.refused("complete", **{**held, "token": str(BIGINT_MAX + 1)})
        outside = await tools.refused("complete", **held, result={"path": "/etc/passwd"})
        await asyncio.to_thread(elsewhere, cancelled)
        lost = await tools.refused("heartbeat", **held)
        nothing = await tools.refused("release", job_id=str(BIGINT_MAX), token="1")

        assert stale["refusal"] == "stale-lease"
        assert "no longer holds" in stale["detail"]
        assert outside["refusal"] == "invalid-value"
        assert lost["refusal"] == "cancelled"
        assert nothing["refusal"] == "not-found"

    def cancelled() -> None:
        cancel_session(sessions[0], guild_id=guilds[0], caller=builders.caller())

    agent(work)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("ready", {"guilds": "118000000000000001"}, "guilds"),
        ("ready", {"guilds": ["x"]}, "guilds"),
        ("ready", {"guild": "1"}, "guild"),
        ("ready", {"states": ["done"]}, "states"),
        ("claim", {"held": True}, "held"),
        ("claim", {"count": 0}, "count"),
        ("claim", {"ttl": 10**400}, "ttl"),
        ("claim", {"request_id": "a\0b"}, "NUL"),
        ("job_list", {"min_priority": 10**30}, "min_priority"),
        ("ready", {"guilds": [str(BIGINT_MAX)]}, "no guild"),
        ("heartbeat", {"job_id": "1"}, "token"),
        ("move", {"session_id": "1", "place": "up"}, "place"),
        ("bump", {"guild": str(builders.STARLING)}, "job_id"),
        ("dance", {}, "claim"),
    ],
)
def test_what_is_not_right_is_a_tool_error_that_says_what(
    agent: Agent, guilds: list[GuildId], name: str, given: dict[str, Any], said: str
) -> None:
    async def work(tools: Tools) -> None:
        assert said in (await tools.refused(name, **given))["detail"]

    agent(work)


def test_a_claim_waits_for_work(agent: Agent, guilds: list[GuildId]) -> None:
    async def work(tools: Tools) -> None:
        assert (await tools.call("claim", wait=0.2))["leases"] == []
        waiting = asyncio.create_task(tools.call("claim", wait=30))
        await asyncio.sleep(0)
        session = await asyncio.to_thread(elsewhere, lambda: builders.stored_session(guilds[0]))

        (lease,) = (await waiting)["leases"]
        assert lease["job"]["session_id"] == str(session)

    agent(work)


def test_an_agent_moves_a_session(agent: Agent, guilds: list[GuildId]) -> None:
    first, second = (builders.stored_session(guilds[0]) for _ in range(2))

    async def work(tools: Tools) -> None:
        moved = await tools.call("move", session_id=str(second), place="before", session=str(first))
        refused = await tools.refused(
            "move", session_id=str(second), place="before", session=str(BIGINT_MAX)
        )

        assert [entry["session_id"] for entry in moved["order"]] == [str(second), str(first)]
        assert refused["refusal"] == "neighbour-left-queue"

    agent(work)


def test_an_agent_bumps_as_a_declared_source_and_never_as_the_operator(
    agent: Agent, tmp_path: Path
) -> None:
    guild = rooted_guild(tmp_path, sources=("nightly-import",))
    job = builders.track_ids(builders.stored_session(guild))[0]
    asked = {"guild": str(guild), "job_id": str(job)}

    async def work(tools: Tools) -> None:
        for source in ({}, {"source": "operator"}, {"source": "another"}):
            assert (await tools.refused("bump", **asked, **source))["refusal"] == "not-granted"
        bumped = await tools.call("bump", **asked, source="nightly-import", reason="due")
        assert bumped["moved"] == [str(job)]

    agent(work)

    assert lane(guild) == [job]
    told = [record.by.partition(":")[0] for record in events_page(guild)]
    assert told == ["source", "account", "account", "account"]

    async def take_back(tools: Tools) -> None:
        await tools.call("unbump", **asked, source="nightly-import")

    agent(take_back)
    assert lane(guild) == []


def test_an_agent_is_told_why_a_declaration_fails_and_no_path_of_the_host(
    agent: Agent, tmp_path: Path
) -> None:
    root = tmp_path / "a-path-of-the-host"
    root.mkdir()
    guild = rooted_guild(root, sources=("nightly-import",))
    (root / "queue.toml").write_bytes(b"[queue.priority\n")
    asked = {"guild": str(guild), "job_id": "1", "source": "nightly-import"}

    async def work(tools: Tools) -> None:
        for verb in ("bump", "unbump"):
            told = await tools.refused(verb, **asked)
            assert "queue.toml: not TOML" in told["note"]
            assert root.name not in str(told)

    agent(work)
