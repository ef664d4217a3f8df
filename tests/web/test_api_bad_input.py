"""What no client should send: every answer is a problem that says what was wrong."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.db import OperationalError, connection
from django.test import Client, override_settings
from django.urls import resolve

from guildqueue.domain.ids import BIGINT_MAX, GuildId
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, problem_of, token_of

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> Caller:
    builders.stored_user("ada", guilds=[guild])
    return token_of("ada")


@pytest.fixture
def path(guild: GuildId) -> str:
    return f"/api/sessions/{builders.stored_session(guild)}/queue/priority"


MALFORMED = {
    "nothing": b"   ",
    "half": b'{"place": "first"',
    "two": b'{"place": "first"}{}',
    "single quotes": b"{'place': 'first'}",
    "comment": b'{"place": "first"} // now',
    "trailing comma": b'{"place": "first",}',
    "key twice": b'{"place": "first", "place": "last"}',
    "key twice within": b'{"place": {"a": 1, "a": 2}}',
    "not a number": b'{"place": NaN}',
    "infinity": b'{"place": -Infinity}',
    "past any float": b'{"place": 1e999}',
    "thousands of digits": b'{"place": ' + b"9" * 5000 + b"}",
    "NUL": b'{"place": "first\\u0000"}',
    "NUL in a key": b'{"\\u0000": 1}',
    "NUL within": b'{"place": [["\\u0000"]]}',
    "raw NUL": b'{"place": "\x00"}',
    "half a pair": b'{"place": "\\ud800"}',
    "half a pair in a key": b'{"\\udc00": 1}',
    "Latin-1": '{"place": "é"}'.encode("latin-1"),
    "UTF-16": '{"place": "first"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"place": "first"}',
    "encoded half a pair": b'{"place": "\xed\xa0\x80"}',
    "deep": b'{"place": ' + b"[" * 40 + b"]" * 40 + b"}",
    "deeper than Python": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a million": b"[" + b"0," * 400_000 + b"0]",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_body_that_is_no_plain_json_is_a_400(ada: Caller, path: str, body: bytes) -> None:
    before = fingerprint()

    problem = problem_of(ada.send("POST", path, body))

    assert problem["status"] == 400
    assert len(problem["detail"]) < 300
    assert fingerprint() == before


def test_a_malformed_body_is_told_where(ada: Caller, path: str) -> None:
    problem = problem_of(ada.send("POST", path, b'{"place": first}'))

    assert problem["type"] == "urn:problem-type:guildqueue:malformed-json"
    assert "line 1 column 11" in problem["detail"]


@pytest.mark.parametrize("size", [MIB + 1, 10 * MIB])
def test_a_body_larger_than_anybody_needs_is_a_413(ada: Caller, path: str, size: int) -> None:
    body = json.dumps({"place": "x" * size}).encode()

    assert problem_of(ada.send("POST", path, body))["status"] == 413


def test_a_large_body_that_does_not_say_so_is_a_413(ada: Caller, path: str) -> None:
    headers = {**ada.headers, "Content-Type": "application/json"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    request = ASGIRequest(scope, BytesIO(b" " * (2 * MIB)))
    match = resolve(path)

    assert problem_of(match.func(request, *match.args, **match.kwargs))["status"] == 413


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/jsonp",
    ],
)
def test_a_body_of_another_type_is_a_415(ada: Caller, path: str, content_type: str) -> None:
    body = b'{"place": "first"}'

    response = ada.send("POST", path, body, content_type=content_type)

    assert problem_of(response)["status"] == 415
    assert response["Accept"] == "application/json"


def test_a_browsers_form_is_a_415_before_its_csrf_token_is_looked_for(
    guild: GuildId, ada: Caller, path: str
) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.login(username="ada", password=builders.PASSWORD)

    response = client.post(path, {"place": "first"})

    assert problem_of(response)["status"] == 415


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", ""]
)
def test_json_may_be_named_with_a_parameter_or_not_at_all(
    ada: Caller, path: str, content_type: str
) -> None:
    response = ada.send("POST", path, b'{"place": "first"}', content_type=content_type)

    assert response.status_code == 200


@pytest.mark.parametrize(
    "spelling",
    ["x", "-1", "1.0", "1e3", " 1", "१", "%00", "9" * 30, str(BIGINT_MAX + 1), "..", "%2e%2e", ""],
)
def test_an_id_in_a_path_that_no_bigint_holds_is_a_404(ada: Caller, spelling: str) -> None:
    for response in (
        ada.get(f"/api/guilds/{spelling}/queue"),
        ada.post(f"/api/sessions/{spelling}/cancel"),
        ada.post(f"/api/sessions/{spelling}/queue/priority", {"place": "first"}),
    ):
        assert problem_of(response)["status"] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "WHAT"])
def test_a_method_that_a_call_does_not_have_is_a_405_with_those_it_has(
    guild: GuildId, ada: Caller, method: str
) -> None:
    for path in (f"/api/guilds/{guild}/queue", "/api/openapi.json"):
        response = ada.call(method, path)

        assert problem_of(response)["status"] == 405
        assert response["Allow"] == "GET, HEAD"


def test_head_is_answered_as_get(guild: GuildId, ada: Caller) -> None:
    for path in (f"/api/guilds/{guild}/queue", "/api/openapi.json"):
        assert ada.call("HEAD", path).status_code == 200
    assert ada.call("HEAD", f"/api/guilds/{guild}/hold").status_code == 405


def test_an_address_with_a_slash_too_many_is_a_404_and_no_redirect(
    guild: GuildId, ada: Caller
) -> None:
    assert problem_of(ada.get(f"/api/guilds/{guild}/queue/"))["status"] == 404
    assert problem_of(Caller().post("/api/nowhere"))["status"] == 404


def test_a_database_that_is_away_is_a_503_and_comes_back(
    guild: GuildId, ada: Caller, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    for debug in (False, True):
        with monkeypatch.context() as away, override_settings(DEBUG=debug):
            away.setattr(connection, "cursor", refuse)
            read, moved = ada.get(f"/api/guilds/{guild}/queue"), ada.post(path, {"place": "first"})

        for response in (read, moved):
            assert problem_of(response)["status"] == 503
            assert response["Retry-After"]
    assert ada.post(path, {"place": "first"}).status_code == 200


@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_ours_is_a_500_without_a_word_of_it(
    ada: Caller, path: str, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    def break_down(*_: object, **__: object) -> Any:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("guildqueue.services.move.move_session", break_down)
    ada.client = Client(raise_request_exception=False)
    with override_settings(DEBUG=debug):
        response = ada.post(path, {"place": "first"})

    assert response.status_code == 500
    if not debug:
        assert problem_of(response)["title"] == "Internal Server Error"
        assert b"secret detail" not in response.content
