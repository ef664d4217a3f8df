"""Bump and un-bump over HTTP, in the order of checks that tells a stranger nothing; the ledger."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from console.api.problems import LANE_STATUS
from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.token import Verb
from guildqueue.services.browse import events_page
from guildqueue.services.register_guild import register_guild
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.builders import document_id, stored_session, track_ids
from tests.db.lane_requests import lane, rooted_guild, tracks_alone
from tests.fingerprint import fingerprint
from tests.web.api import Caller, browser_of, problem_of, token_of

pytestmark = pytest.mark.django_db
SOURCE = {"source": "nightly-import", "reason": "at noon"}
DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    guild_id = rooted_guild(tmp_path, sources=("nightly-import", "console"))
    builders.stored_user("ada", guilds=[guild_id])
    return guild_id


def token(
    guild: GuildId, *, source: str | None = "nightly-import", verb: Verb = Verb.BUMP
) -> Caller:
    raw = issue_token("a script", guild_ids=[guild], verbs=[verb], source=source)
    return Caller({"Authorization": f"Bearer {raw}"})


def job_path(guild: int, job: int, verb: str = "bump") -> str:
    return f"/api/guilds/{guild}/jobs/{job}/{verb}"


def session_path(guild: int, session: int, verb: str = "bump") -> str:
    return f"/api/guilds/{guild}/sessions/{session}/{verb}"


def test_a_declared_source_bumps_and_takes_back(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    jobs = [str(job) for job in (*track_ids(session), document_id(session))]
    script = token(guild)

    bumped = script.post(job_path(guild, int(jobs[-1])), SOURCE)
    taken = script.post(job_path(guild, int(jobs[-1]), "unbump"), SOURCE)

    assert bumped.status_code == taken.status_code == 200
    assert bumped.json() == {
        "accepted": True,
        "refusal": None,
        "job_id": jobs[-1],
        "session_id": None,
        "moved": jobs,
        "already": [],
        "removed": [],
        "skipped": [],
        "note": "",
    }
    assert taken.json()["removed"] == jobs
    newest, oldest = events_page(guild)
    assert (oldest.by, oldest.on_behalf_of, oldest.reason) == (
        "source:nightly-import",
        "token:a script",
        "at noon",
    )
    assert newest.correlation_id == taken["X-Request-ID"]


def test_a_whole_session_is_bumped_and_taken_back(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)

    assert token(guild).post(session_path(guild, session), SOURCE).status_code == 200
    assert len(lane()) == 3
    assert token(guild).post(session_path(guild, session, "unbump"), SOURCE).status_code == 200
    assert lane() == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no-source"),
        pytest.param({"source": "console"}, id="another-source"),
        pytest.param({"source": "operator"}, id="operator"),
        pytest.param({"source": None}, id="null"),
    ],
)
def test_whatever_else_a_token_says_is_a_403_on_record(
    guild: GuildId, body: dict[str, Any]
) -> None:
    [job] = tracks_alone(guild, 1)

    told = problem_of(token(guild).post(job_path(guild, job), body))

    assert (told["status"], told["refusal"], told["accepted"]) == (403, "not-granted", False)
    [record] = events_page(guild)
    assert (record.type, record.by, record.untrusted) == (
        "PriorityRefused",
        "token:a script",
        True,
    )
    assert lane() == []


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param({"verb": Verb.MOVE}, id="without-the-verb"),
        pytest.param({"source": None}, id="without-a-source"),
        pytest.param({"source": "undeclared"}, id="undeclared"),
    ],
)
def test_a_token_without_the_grant_is_told_the_same_of_every_job(
    guild: GuildId, refused: dict[str, Any]
) -> None:
    [job] = tracks_alone(guild, 1)
    [elsewhere] = tracks_alone(builders.stored_guild(builders.MAGPIE), 1)
    script = token(guild, **refused)
    asked = {"source": refused.get("source") or "nightly-import"}

    answers = [script.post(job_path(guild, j), asked) for j in (job, elsewhere, BIGINT_MAX)]

    def without_id(answer: Any) -> dict[str, Any]:
        return {k: v for k, v in problem_of(answer).items() if k != "job_id"}

    assert answers[0].status_code == 403
    assert without_id(answers[0]) == without_id(answers[1]) == without_id(answers[2])
    records = events_page(guild)
    assert len(records) == 3
    assert len({(r.by, r.reason, r.changed["note"], r.untrusted) for r in records}) == 1


def test_a_guild_outside_the_scope_is_a_404_and_nowhere_on_record(guild: GuildId) -> None:
    other = builders.stored_guild(builders.MAGPIE)
    [job] = tracks_alone(other, 1)
    script, before = token(guild), fingerprint()

    answers = [script.post(job_path(g, job), SOURCE) for g in (other, 5)]
    answers.append(token_of("ada").post(job_path(other, job), SOURCE))

    assert {problem_of(answer)["status"] for answer in answers} == {404}
    assert answers[0].content == answers[1].content
    after = fingerprint()
    assert after["guildqueue_queue_event"] == before["guildqueue_queue_event"]


def test_a_job_that_is_not_there_is_a_404_on_record(guild: GuildId) -> None:
    told = problem_of(token(guild).post(job_path(guild, BIGINT_MAX), SOURCE))

    assert (told["status"], told["refusal"]) == (404, "no-such-job")
    assert events_page(guild)[0].changed["refusal"] == "no-such-job"
    assert events_page(guild)[0].untrusted is False


def test_what_the_queue_does_not_admit_is_a_409_with_why(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=1)
    script = token(guild)
    script.post(job_path(guild, document_id(session)), SOURCE)

    answer = script.post(job_path(guild, track_ids(session)[0], "unbump"), SOURCE)

    assert answer.status_code == 409
    assert answer.json()["refusal"] == "still-needed"
    assert str(document_id(session)) in answer.json()["note"]


def test_a_browser_speaks_for_the_console_on_behalf_of_its_user(guild: GuildId) -> None:
    session = stored_session(guild)

    answer = browser_of("ada").post(session_path(guild, session), {"source": "console"})

    assert answer.status_code == 200
    [record] = events_page(guild)
    assert (record.by, record.on_behalf_of) == ("source:console", "user:ada")


@pytest.mark.parametrize("body", [{}, {"source": "nightly-import"}])
def test_a_browser_is_neither_the_operator_nor_another_source(
    guild: GuildId, body: dict[str, Any]
) -> None:
    session = stored_session(guild)

    told = problem_of(browser_of("ada").post(session_path(guild, session), body))

    assert told["status"] == 403
    assert events_page(guild)[0].by == "user:ada"


def test_where_the_console_is_not_declared_a_browser_bumps_nothing(
    guild: GuildId, tmp_path: Path
) -> None:
    (tmp_path / "queue.toml").unlink()
    session = stored_session(guild)

    answer = browser_of("ada").post(session_path(guild, session), {"source": "console"})

    assert answer.status_code == 403
    assert lane() == []


def test_a_guild_whose_root_is_gone_refuses_everybody_on_record(guild: GuildId) -> None:
    register_guild(guild, root="/nowhere")
    [job] = tracks_alone(guild, 1)

    assert token(guild).post(job_path(guild, job), SOURCE).status_code == 403
    assert events_page(guild)[0].type == "PriorityRefused"


def test_a_browser_needs_the_csrf_token(guild: GuildId) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.login(username="ada", password=builders.PASSWORD)
    session = stored_session(guild)

    answer = Caller(client=client).post(session_path(guild, session), {"source": "console"})

    assert answer.status_code == 403
    assert events_page(guild) == []


@pytest.mark.parametrize(
    "body", [{"sources": []}, {"source": 7}, {"source": "x" * 65}, {"reason": "x" * 501}]
)
def test_a_body_that_is_not_right_is_a_400(guild: GuildId, body: dict[str, Any]) -> None:
    assert token(guild).post(job_path(guild, 1), body).status_code == 400
    assert events_page(guild) == []


def test_the_ledger_is_read_a_page_at_a_time(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("guildqueue.services.browse", "console.api.events"):
        monkeypatch.setattr(f"{module}.EVENTS_A_PAGE", 2)
    script = token(guild)
    for number in range(3):
        script.post(job_path(guild, BIGINT_MAX - number), SOURCE)
    ada, path = token_of("ada"), f"/api/guilds/{guild}/events"

    first = ada.get(path).json()
    second = ada.get(f"{path}?before={first['before']}").json()

    assert [e["changed"]["job_id"] for e in first["events"] + second["events"]] == [
        str(BIGINT_MAX - number) for number in (2, 1, 0)
    ]
    assert second["before"] is None
    assert set(first["events"][0]) == {
        "event_id", "at", "type", "by", "on_behalf_of", "reason", "changed",
        "correlation_id", "untrusted", "prev_digest", "digest",
    }  # fmt: skip
    assert first["events"][0]["prev_digest"] == first["events"][1]["digest"]


@pytest.mark.parametrize("before", ["x", "-1", str(2**63), ""])
def test_a_before_that_is_no_id_is_a_400(guild: GuildId, before: str) -> None:
    answer = token_of("ada").get(f"/api/guilds/{guild}/events?before={before}")

    assert problem_of(answer)["field"] == "before"


def test_the_ledger_needs_the_right_to_read(guild: GuildId) -> None:
    path = f"/api/guilds/{guild}/events"

    assert token(guild, verb=Verb.READ).get(path).status_code == 200
    assert token(guild, verb=Verb.BUMP).get(path).status_code == 403
    assert Caller().get(path).status_code == 401


def test_every_refusal_of_the_lane_is_documented_with_its_status() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")

    assert set(LANE_STATUS) == set(LaneRefusal)
    for word, status in LANE_STATUS.items():
        assert f"| `{word}` | {status.value} |" in text, word
