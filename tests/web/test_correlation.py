"""Each request has an id that can be found in the answer, the log and the ledger."""

import json
import re

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from console.middleware import correlation

MADE = re.compile(r"[0-9a-f]{32}")


def answered(request: HttpRequest) -> tuple[str, HttpResponse]:
    """The id that the view saw, and the response."""
    seen: list[str] = []

    def view(inner: HttpRequest) -> HttpResponse:
        seen.append(inner.correlation_id)  # type: ignore[attr-defined]
        return HttpResponse("")

    response = correlation(view)(request)
    assert isinstance(response, HttpResponse)
    return seen[0], response


@pytest.mark.parametrize("given", ["abc", "A-1_2.3", "x" * 64])
def test_a_plain_id_of_the_caller_is_taken_over(given: str) -> None:
    seen, response = answered(RequestFactory().get("/", headers={"X-Request-ID": given}))

    assert seen == response["X-Request-ID"] == given


@pytest.mark.parametrize(
    "given", ["", "x" * 65, "a b", "a\nb", "a\r\nSet-Cookie: x", "ä", "<img>", "a/b", "abc\n"]
)
def test_any_other_id_is_replaced_by_one_of_ours(given: str) -> None:
    seen, response = answered(RequestFactory().get("/", HTTP_X_REQUEST_ID=given))

    assert MADE.fullmatch(seen)
    assert response["X-Request-ID"] == seen


def test_two_requests_never_share_a_made_id() -> None:
    first, _ = answered(RequestFactory().get("/"))
    second, _ = answered(RequestFactory().get("/"))

    assert first != second


@pytest.mark.django_db
def test_a_request_is_one_line_of_json_with_its_id(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    client.get("/nowhere/", headers={"X-Request-ID": "abc"})

    line = json.loads(capsys.readouterr().err)
    assert line["correlation_id"] == "abc"
    assert (line["method"], line["path"], line["status"]) == ("GET", "/nowhere/", 404)
    assert line["duration_ms"] >= 0


@pytest.mark.django_db
def test_a_query_string_is_not_logged(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    client.get("/nowhere/?token=gq_secret")

    written = capsys.readouterr().err
    assert "/nowhere/" in written
    assert "gq_secret" not in written
