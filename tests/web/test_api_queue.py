"""The snapshot over HTTP: shape, order, paging and what it costs."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from console.api.schemas import Snapshot
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services import hold
from guildqueue.services.snapshot import queue_snapshot
from tests import builders
from tests.web.api import Caller, problem_of, token_of

pytestmark = pytest.mark.django_db
MARKUP = "<img src=x onerror=alert(1)> \u202e مجلس 🐦 \u2028"


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> Caller:
    builders.stored_user("ada", guilds=[guild])
    return token_of("ada")


def snapshot(caller: Caller, guild: GuildId, query: str = "") -> dict[str, Any]:
    response = caller.get(f"/api/guilds/{guild}/queue{query}")
    assert response.status_code == 200, response.content
    found: dict[str, Any] = response.json()
    return found


def bump(session_id: SessionId, *, limit: int | None = None) -> None:
    """Put the session's first ``limit`` jobs (default: all) in the lane, by name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE guildqueue_job SET bump_seq = id, bump_named = true WHERE id IN"
            " (SELECT id FROM guildqueue_job WHERE session_id = %s ORDER BY id LIMIT %s)",
            [session_id, limit],
        )


def test_a_snapshot_has_the_fields_of_the_contract_and_no_others(
    guild: GuildId, ada: Caller
) -> None:
    builders.stored_session(guild)

    found = snapshot(ada, guild)

    assert list(found) == ["guild_id", "version", "held", "counts", "more", "sessions"]
    counts = ["pending", "running", "done", "dead", "cancelled", "held", "other"]
    assert list(found["counts"]) == counts
    session = found["sessions"][0]
    assert set(session) == {
        *("session_id", "title", "state", "started_at", "participants", "jobs", "priority"),
        *("position", "lane", "lane_jobs", "named", "held", "waits_for", "audio_seconds"),
        "progress",
    }
    assert list(session["jobs"]) == ["pending", "running", "done", "dead", "cancelled"]


def test_a_waiting_session_says_what_the_page_says(guild: GuildId, ada: Caller) -> None:
    started = datetime(2026, 3, 14, 21, 30, tzinfo=timezone(timedelta(hours=1)))
    asked = builders.stored_session(
        guild, title=MARKUP, n_tracks=2, audio_seconds=90.5, started_at=started
    )

    found = snapshot(ada, guild)

    assert found["guild_id"] == str(guild)
    assert found["version"] == queue_snapshot(guild).version
    assert found["sessions"] == [
        {
            "session_id": str(asked),
            "title": MARKUP,
            "state": "queued",
            "started_at": "2026-03-14T20:30:00Z",
            "participants": 2,
            "jobs": {"pending": 3, "running": 0, "done": 0, "dead": 0, "cancelled": 0},
            "priority": 0,
            "position": 1,
            "lane": False,
            "lane_jobs": 0,
            "named": False,
            "held": False,
            "waits_for": None,
            "audio_seconds": 181.0,
            "progress": 0.0,
        }
    ]


def test_sessions_come_in_claim_order_and_the_finished_ones_last(
    guild: GuildId, ada: Caller
) -> None:
    done = builders.done_session(guild)
    cancelled = builders.cancelled_session(guild)
    waiting, moved = (builders.stored_session(guild) for _ in range(2))
    ada.post(f"/api/sessions/{moved}/queue/priority", {"place": "first"})

    sessions = snapshot(ada, guild)["sessions"]

    in_line = [(s["session_id"], s["position"], s["priority"]) for s in sessions]
    assert in_line[:2] == [(str(moved), 1, 0), (str(waiting), 2, 1)]
    assert set(in_line[2:]) == {(str(done), None, None), (str(cancelled), None, None)}
    assert {s["state"] for s in sessions[2:]} == {"done", "cancelled"}


def test_a_session_of_which_all_runs_has_a_number_and_no_place_in_line(
    guild: GuildId, ada: Caller
) -> None:
    recording = builders.stored_session(guild, recording=True)
    builders.running_jobs(recording)

    session = snapshot(ada, guild)["sessions"][0]

    assert session["state"] == "recording"
    assert (session["priority"], session["position"]) == (0, None)


def test_the_lane_counts_jobs_and_is_named_only_when_whole(guild: GuildId, ada: Caller) -> None:
    partly, wholly = (builders.stored_session(guild, n_tracks=2) for _ in range(2))
    bump(partly, limit=2)
    bump(wholly)

    sessions = snapshot(ada, guild)["sessions"]

    seen = [(s["session_id"], s["lane"], s["lane_jobs"], s["named"]) for s in sessions]
    assert seen == [(str(wholly), True, 3, True), (str(partly), False, 2, True)]


def test_holds_of_the_guild_and_of_a_session_are_told_apart(guild: GuildId, ada: Caller) -> None:
    held, free = (builders.stored_session(guild) for _ in range(2))
    hold.hold_session(held, guild_id=guild, reason="", caller=builders.caller())

    of_session = snapshot(ada, guild)
    hold.hold_guild(guild, reason="", caller=builders.caller())
    of_guild = snapshot(ada, guild)

    assert of_session["held"] is False
    assert of_session["counts"]["held"] == 2
    assert [s["held"] for s in of_session["sessions"]] == [True, False]
    assert of_guild["held"] is True
    assert [s["held"] for s in of_guild["sessions"]] == [True, False]
    assert {s["waits_for"] for s in of_guild["sessions"]} == {"hold"}
    assert [s["session_id"] for s in of_guild["sessions"]] == [str(held), str(free)]


def test_a_queue_longer_than_a_page_is_read_page_by_page(guild: GuildId, ada: Caller) -> None:
    stored = [str(builders.stored_session(guild)) for _ in range(203)]
    builders.cancelled_session(guild)

    first = snapshot(ada, guild)
    last = snapshot(ada, guild, f"?after={first['sessions'][199]['session_id']}")

    assert first["more"] == 3
    assert last["more"] == 0
    assert [s["session_id"] for s in first["sessions"][:200] + last["sessions"]] == stored
    assert len(first["sessions"]) == 201
    assert len(json.dumps(first)) < 200_000


@pytest.mark.parametrize("after", ["x", "", "-1", "9" * 30, "1.0", "%00", "%ED%A0%80", "१", "999"])
def test_a_page_after_no_session_of_the_queue_is_a_400(
    guild: GuildId, ada: Caller, after: str
) -> None:
    problem = problem_of(ada.get(f"/api/guilds/{guild}/queue?after={after}"))

    assert problem["status"] == 400
    assert problem["field"] == "after"


def test_the_snapshot_is_what_the_schema_declares(guild: GuildId, ada: Caller) -> None:
    builders.running_jobs(builders.stored_session(guild, n_tracks=3), n=1)
    builders.stored_session(guild, audio_seconds=None, started_at=datetime.now(UTC))
    builders.dead_session(guild, n_tracks=2)
    builders.done_session(guild)
    builders.cancelled_session(guild)

    response = ada.get(f"/api/guilds/{guild}/queue")

    checked = Snapshot.model_validate_json(response.content, strict=True, extra="forbid")
    assert len(checked.sessions) == 5


def test_the_answer_is_json_that_nothing_keeps_or_takes_for_a_page(
    guild: GuildId, ada: Caller
) -> None:
    builders.stored_session(guild, title=MARKUP)

    response = ada.get(f"/api/guilds/{guild}/queue")

    assert response["Content-Type"] == "application/json"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "no-store"
    assert b"\n" not in response.content


def test_a_snapshot_costs_the_same_statements_whatever_it_shows(
    guild: GuildId, ada: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        builders.stored_session(guild, n_tracks=3)

    # The token, the note that it was used, the guild and its administrator, the snapshot.
    with django_assert_num_queries(4):
        ada.get(f"/api/guilds/{guild}/queue")
