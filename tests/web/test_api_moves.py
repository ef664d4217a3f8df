"""Moves and quick actions over HTTP: done, nothing to do, refused, and never allowed."""

import json
from typing import Any

import pytest
from django.db import connection

from console.api.schemas import Decision
from guildqueue.domain.errors import QueueBusy
from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.services.browse import events_page
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, browser_of, problem_of, token_of
from tests.web.test_api_queue import bump

pytestmark = pytest.mark.django_db


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> Caller:
    builders.stored_user("ada", guilds=[guild])
    return token_of("ada")


def stored(guild: GuildId, n: int = 3) -> list[SessionId]:
    return [builders.stored_session(guild) for _ in range(n)]


def move(caller: Caller, session_id: int, body: object) -> Any:
    return caller.post(f"/api/sessions/{session_id}/queue/priority", body)


def order_of(response: Any) -> list[tuple[int, int]]:
    """The answer's order, once it is one that the schema declares."""
    checked = Decision.model_validate_json(response.content, strict=True, extra="forbid")
    return [(int(entry.session_id), entry.priority) for entry in checked.order]


def test_a_move_answers_with_what_it_wrote_and_the_order(guild: GuildId, ada: Caller) -> None:
    a, b, c = stored(guild)

    response = move(ada, c, {"place": "before", "session": str(b)})

    assert response.status_code == 200
    assert response.json() == {
        "accepted": True,
        "refusal": None,
        "changed": [str(b)],
        "order": [
            {"session_id": str(a), "priority": 0},
            {"session_id": str(c), "priority": 0},
            {"session_id": str(b), "priority": 1},
        ],
    }


@pytest.mark.parametrize(
    ("place", "wanted"), [("first", "cab"), ("last", "abc"), ("before", "cab"), ("after", "acb")]
)
def test_every_place_puts_the_session_there(
    guild: GuildId, ada: Caller, place: str, wanted: str
) -> None:
    a, b, c = stored(guild)
    names = {a: "a", b: "b", c: "c"}
    neighbour = {} if place in ("first", "last") else {"session": str(a)}

    response = move(ada, c, {"place": place, **neighbour})

    assert "".join(names[SessionId(session)] for session, _ in order_of(response)) == wanted


def test_a_move_to_where_the_session_stands_changes_nothing(guild: GuildId, ada: Caller) -> None:
    a, *_ = stored(guild)
    before = fingerprint()

    response = move(ada, a, {"place": "first", "session": None})

    assert response.status_code == 200
    assert response.json()["changed"] == []
    assert fingerprint() == before


@pytest.mark.parametrize("comes_with", [token_of, browser_of])
def test_the_ledger_names_who_moved_and_in_which_request(guild: GuildId, comes_with: Any) -> None:
    builders.stored_user("Björk", guilds=[guild])
    caller = comes_with("Björk")
    _, last = stored(guild, 2)

    response = move(caller, last, {"place": "first"})

    record = events_page(guild)[0]
    assert record.by == "user:Björk"
    assert record.correlation_id == response["X-Request-ID"] != ""


ID = "decimal digits"
PLACES = "first, last, before, after"
BAD_MOVES: list[tuple[object, str, str]] = [
    ({"place": "sideways"}, "place", PLACES),
    ({"place": "First"}, "place", PLACES),
    ({"place": ""}, "place", PLACES),
    ({"place": "<img src=x>" * 1000}, "place", PLACES),
    ({"place": None}, "place", "string"),
    ({"place": 1}, "place", "string"),
    ({"place": ["first"]}, "place", "string"),
    ({}, "place", "missing"),
    ({"session": "1"}, "place", "missing"),
    ({"place": "before"}, "session", "the id of the session"),
    ({"place": "after", "session": None}, "session", "the id of the session"),
    ({"place": "after", "session": ""}, "session", "the id of the session"),
    ({"place": "first", "session": "1"}, "session", "no neighbour"),
    ({"place": "last", "session": "1"}, "session", "no neighbour"),
    ({"place": "before", "session": 1}, "session", "string"),
    ({"place": "before", "session": True}, "session", "string"),
    ({"place": "before", "session": {}}, "session", "string"),
    ({"place": "before", "session": "x"}, "session", ID),
    ({"place": "before", "session": "-1"}, "session", ID),
    ({"place": "before", "session": "1.5"}, "session", ID),
    ({"place": "before", "session": " 1"}, "session", ID),
    ({"place": "before", "session": "1_0"}, "session", ID),
    ({"place": "before", "session": "१"}, "session", ID),
    ({"place": "before", "session": str(BIGINT_MAX + 1)}, "session", ID),
    ({"place": "before", "session": "9" * 30}, "session", ID),
    ({"place": "before", "session": "9" * 100_000}, "session", ID),
    ({"place": "first", "colour": "red"}, "colour", "place, session"),
    ({"place": "first", "priority": 0}, "priority", "place, session"),
    ({"place": "first", "Session": "1"}, "Session", "place, session"),
    ({"place": "first", "x" * 200: 1}, "x" * 200, "place, session"),
    ([], "the body", "JSON object"),
    (None, "the body", "JSON object"),
    ("first", "the body", "JSON object"),
    (3, "the body", "JSON object"),
]


@pytest.mark.parametrize(("body", "field", "words"), BAD_MOVES)
def test_a_move_that_can_never_be_right_is_a_400_naming_field_and_allowed(
    guild: GuildId, ada: Caller, body: object, field: str, words: str
) -> None:
    asked, *_ = stored(guild)
    before = fingerprint()

    problem = problem_of(move(ada, asked, body))

    assert problem["status"] == 400
    assert problem["field"] == field
    assert words in problem["detail"]
    assert len(problem["detail"]) < 300
    assert fingerprint() == before


def test_a_session_next_to_itself_is_a_400(guild: GuildId, ada: Caller) -> None:
    asked, *_ = stored(guild)

    for spelling in (str(asked), f"00{asked}"):
        problem = problem_of(move(ada, asked, {"place": "before", "session": spelling}))
        assert (problem["status"], problem["field"]) == (400, "session")


def test_a_neighbour_outside_this_queue_is_a_409_whatever_it_is(
    guild: GuildId, ada: Caller
) -> None:
    a, b = stored(guild, 2)
    elsewhere = builders.stored_session(builders.stored_guild(builders.MAGPIE))
    finished = builders.cancelled_session(guild)
    before = fingerprint()

    for neighbour in (finished, elsewhere, BIGINT_MAX, 0):
        response = move(ada, b, {"place": "before", "session": str(neighbour)})

        assert response.status_code == 409
        assert response.json()["refusal"] == "neighbour-left-queue"
        assert response.json()["accepted"] is False
        assert response.json()["changed"] == []
        assert order_of(response) == [(a, 0), (b, 0)]
    assert fingerprint() == before


def test_a_session_that_left_the_queue_is_a_409_with_the_order(guild: GuildId, ada: Caller) -> None:
    (waiting,) = stored(guild, 1)
    finished = builders.cancelled_session(guild)

    response = move(ada, finished, {"place": "first"})

    assert response.status_code == 409
    assert response.json()["refusal"] == "session-left-queue"
    assert order_of(response) == [(waiting, 0)]


def test_a_session_in_the_lane_neither_moves_nor_is_moved_to(guild: GuildId, ada: Caller) -> None:
    next_up, waiting = stored(guild, 2)
    bump(next_up)

    moved = move(ada, next_up, {"place": "last"})
    beside = move(ada, waiting, {"place": "before", "session": str(next_up)})

    for response in (moved, beside):
        assert response.status_code == 409
        assert response.json()["refusal"] == "in-lane"
        assert order_of(response) == [(waiting, 0)]


def test_used_up_numbers_are_a_409_with_the_order(guild: GuildId, ada: Caller) -> None:
    first, last = stored(guild, 2)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE guildqueue_job SET priority = %s", [BIGINT_MAX])

    response = move(ada, last, {"place": "before", "session": str(first)})

    assert response.status_code == 409
    assert response.json()["refusal"] == "priority-exhausted"
    assert order_of(response) == [(first, BIGINT_MAX), (last, BIGINT_MAX)]


def test_a_queue_that_others_keep_changing_is_a_409_with_the_order(
    guild: GuildId, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    (asked,) = stored(guild, 1)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise QueueBusy

    monkeypatch.setattr("guildqueue.services.move.move_session", refuse)
    response = move(ada, asked, {"place": "first"})

    assert response.status_code == 409
    assert response.json()["refusal"] == "busy"
    assert order_of(response) == [(asked, 0)]


def test_a_quick_action_orders_the_queue_and_its_preview_only_says_so(
    guild: GuildId, ada: Caller
) -> None:
    few = builders.stored_session(guild, participants=2)
    many = builders.stored_session(guild, participants=8)
    path = f"/api/guilds/{guild}/queue/priority"
    rule = {"rule": "many-participants-first"}
    before = fingerprint()

    preview = ada.post(f"{path}/preview", rule)
    assert fingerprint() == before
    applied = ada.post(path, rule)
    again = ada.post(path, rule)

    assert preview.status_code == applied.status_code == again.status_code == 200
    assert preview.json() == applied.json()
    assert order_of(applied) == [(many, 0), (few, 1)]
    assert applied.json()["changed"] == [str(few)]
    assert again.json()["changed"] == []


@pytest.mark.parametrize("path", ["priority", "priority/preview"])
@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"rule": "loudest-first"}, "rule", "many-participants-first, short-recordings-first"),
        ({"rule": 1}, "rule", "string"),
        ({}, "rule", "missing"),
        ({"rule": "short-recordings-first", "place": "first"}, "place", "known: rule"),
        ([{}], "the body", "JSON object"),
    ],
)
def test_an_unknown_rule_is_a_400_that_lists_the_known_ones(
    guild: GuildId, ada: Caller, path: str, body: object, field: str, words: str
) -> None:
    problem = problem_of(ada.post(f"/api/guilds/{guild}/queue/{path}", body))

    assert problem["status"] == 400
    assert problem["field"] == field
    assert words in problem["detail"]


def test_an_answer_never_repeats_markup_as_a_page(guild: GuildId, ada: Caller) -> None:
    (asked,) = stored(guild, 1)

    response = move(ada, asked, {"place": "<script>alert(1)</script>"})

    assert response["Content-Type"] == "application/problem+json"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "<script>" in json.loads(response.content)["detail"]
