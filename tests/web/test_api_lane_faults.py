"""A declaration that cannot be relied on: HTTP is told why, and not where on the host it lies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.domain.token import Verb
from guildqueue.services.browse import events_page
from guildqueue.services.register_guild import register_guild
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.builders import stored_session, track_ids
from tests.db.command import queue
from tests.db.lane_requests import rooted_guild
from tests.lane.faults import FAULTY
from tests.web.api import Caller, browser_of, problem_of, token_of

pytestmark = pytest.mark.usefixtures("committed_db")


def _is_gone(root: Path) -> None:
    (root / "queue.toml").unlink()
    root.rmdir()


def _is_a_file(root: Path) -> None:
    _is_gone(root)
    root.touch()


def _with(fault: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        (root / "queue.toml").unlink()
        fault(root / "queue.toml")

    return make


FAULTS = {
    **{told: _with(fault) for told, fault in FAULTY.items()},
    "no such file": _is_gone,
    "not a directory": _is_a_file,
}
EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "a-path-of-the-host"
    path.mkdir()
    return path


@pytest.fixture
def guild(root: Path) -> GuildId:
    guild_id = rooted_guild(root, sources=("nightly-import", "console"))
    builders.stored_user("ada", guilds=[guild_id])
    return guild_id


def script(guild: GuildId) -> Caller:
    raw = issue_token(
        "a script", guild_ids=[guild], verbs=[Verb.BUMP, Verb.ENQUEUE], source="nightly-import"
    )
    return Caller({"Authorization": f"Bearer {raw}"})


def asked_every_way(guild: GuildId) -> list[Any]:
    """The answer to each way in which a request reaches the lane over HTTP."""
    session = stored_session(guild)
    of_job = f"/api/guilds/{guild}/jobs/{track_ids(session)[0]}"
    of_session = f"/api/guilds/{guild}/sessions/{session}"
    source, console = {"source": "nightly-import"}, {"source": "console"}
    new = {"guild": str(guild), "session": str(session), "kind": "transcribe", "bump": True}
    return [
        *(script(guild).post(f"{of_job}/{verb}", source) for verb in ("bump", "unbump")),
        *(script(guild).post(f"{of_session}/{verb}", source) for verb in ("bump", "unbump")),
        script(guild).post("/api/jobs", new | source),
        *(browser_of("ada").post(f"{path}/bump", console) for path in (of_job, of_session)),
        token_of("ada").post(f"{of_job}/bump", {}),
    ]


@EVERY_FAULT
def test_over_http_a_refusal_says_why_and_no_path_of_the_host(
    guild: GuildId, root: Path, fault: str
) -> None:
    FAULTS[fault](root)

    answers = asked_every_way(guild)

    for answer in answers:
        assert problem_of(answer)["refusal"] == "not-granted"
        assert fault in problem_of(answer)["note"]
        assert root.name not in answer.content.decode()
        assert str(root.parent) not in answer.content.decode()


@EVERY_FAULT
def test_the_record_that_is_read_over_http_names_no_path_either(
    guild: GuildId, root: Path, fault: str
) -> None:
    FAULTS[fault](root)
    asked_every_way(guild)
    queue("bump", 1, "-g", guild)

    answer = token_of("ada").get(f"/api/guilds/{guild}/events")
    page = browser_of("ada").get(f"/guilds/{guild}/")

    assert {event["type"] for event in answer.json()["events"]} == {"PriorityRefused"}
    assert all(fault in event["changed"]["note"] for event in answer.json()["events"])
    for shown in (answer, page):
        assert shown.status_code == 200
        assert root.name not in shown.content.decode()


@EVERY_FAULT
@pytest.mark.parametrize("source", [None, "nightly-import"])
def test_on_the_command_line_the_path_is_told(
    guild: GuildId, root: Path, fault: str, source: str | None
) -> None:
    FAULTS[fault](root)
    named = ("--source", source) if source else ()

    done = queue("bump", 1, "-g", guild, "--json", *named)

    assert done.code == 3
    assert fault in done.fault
    assert str(root) in done.fault
    assert done.json["note"] == done.fault
    assert events_page(guild)[0].changed["note"] in done.fault


def test_a_root_that_is_no_absolute_path_is_not_repeated_over_http(guild: GuildId) -> None:
    register_guild(guild, root="of-the-host/starling")

    notes = [problem_of(answer)["note"] for answer in asked_every_way(guild)]

    assert all("is not an absolute path" in note for note in notes)
    assert not any("of-the-host" in note for note in notes)
    assert "of-the-host/starling" in queue("bump", 1, "-g", guild).fault
