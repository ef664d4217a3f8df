"""The committed description of the API: what the code gives, and no break for its clients."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from console.api.openapi import openapi_document, openapi_text
from tests.web.compatibility import breaking_changes
from tests.web.routes import every_route

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMITTED = DOCS / "openapi.json"
BASELINE = DOCS / "openapi-baseline.json"
# The document itself, and what leads nowhere.
UNDESCRIBED = {"/api/openapi.json", "/api/{rest}"}
MOVE = "/api/sessions/{session_id}/queue/priority"
QUEUE = "/api/guilds/{guild_id}/queue"

Document = dict[str, Any]
Change = Callable[[Document], object]


def test_the_committed_document_is_what_the_code_gives() -> None:
    assert COMMITTED.read_text("utf-8") == openapi_text(), "run `make openapi` and commit it"


def test_nothing_breaks_a_client_of_the_last_release() -> None:
    released = json.loads(BASELINE.read_text("utf-8"))

    assert breaking_changes(released, openapi_document()) == []


def test_the_served_document_is_the_committed_one() -> None:
    response = Client().get("/api/openapi.json")

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.content.decode() == COMMITTED.read_text("utf-8")


def test_the_command_prints_the_document_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("openapi")
    call_command("openapi", output=tmp_path / "openapi.json")

    assert capsys.readouterr().out == openapi_text()
    assert (tmp_path / "openapi.json").read_text("utf-8") == openapi_text()


def test_every_route_of_the_api_is_described() -> None:
    routes = {route.template for route in every_route() if route.template.startswith("/api/")}

    assert routes - UNDESCRIBED == set(openapi_document()["paths"])


def test_every_call_says_how_to_come_in_and_how_it_refuses() -> None:
    for path in openapi_document()["paths"].values():
        for operation in path.values():
            assert operation["security"] == [{"BearerToken": []}, {"SignedIn": []}]
            assert {"200", "401", "403", "404", "503"} <= set(operation["responses"])
            for status, response in operation["responses"].items():
                if status not in ("200", "201", "409"):
                    assert list(response["content"]) == ["application/problem+json"]


def test_ids_are_strings_wherever_they_stand() -> None:
    document = openapi_document()

    for name, schema in document["components"]["schemas"].items():
        for field, found in schema.get("properties", {}).items():
            if field.endswith("_id"):
                kinds = {kind["type"] for kind in found.get("anyOf", [found])}
                assert kinds - {"null"} == {"string"}, f"{name}.{field}"
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path":
                    assert parameter["schema"]["type"] == "string"


def component(name: str) -> Callable[[Document], Document]:
    return lambda document: document["components"]["schemas"][name]


def changed(change: Change) -> Document:
    document = copy.deepcopy(openapi_document())
    change(document)
    return document


move, rule, reason, session = map(component, ("Move", "Rule", "Reason", "Session"))
BREAKS: dict[str, tuple[Change, str]] = {
    "a path": (lambda d: d["paths"].pop(MOVE), f"POST {MOVE}: removed"),
    "a method": (lambda d: d["paths"][QUEUE].pop("get"), f"GET {QUEUE}: removed"),
    "a way in": (lambda d: d["paths"][QUEUE]["get"]["security"].pop(), "SignedIn no longer"),
    "a parameter": (lambda d: d["paths"][QUEUE]["get"]["parameters"].pop(), "after removed"),
    "a parameter needed": (
        lambda d: d["paths"][QUEUE]["get"]["parameters"][1].update(required=True),
        "after is needed now",
    ),
    "an answer": (lambda d: d["paths"][MOVE]["post"]["responses"].pop("200"), "no 200 any more"),
    "a media type": (
        lambda d: d["paths"][QUEUE]["get"]["responses"]["200"].update(content={"text/html": {}}),
        "200: no longer application/json",
    ),
    "a body needed": (
        lambda d: d["paths"]["/api/guilds/{guild_id}/hold"]["post"]["requestBody"].update(
            required=True
        ),
        "a body is needed now",
    ),
    "a body's field": (lambda d: reason(d)["properties"].pop("reason"), "body.reason: removed"),
    "a field needed": (lambda d: move(d)["required"].append("session"), "session: is needed now"),
    "a word": (lambda d: rule(d)["properties"]["rule"]["enum"].pop(), "fewer words"),
    "a sent type": (
        lambda d: reason(d)["properties"]["reason"].update(type="integer"),
        "no longer takes ['string']",
    ),
    "a limit": (
        lambda d: reason(d)["properties"]["reason"].update(maxLength=20),
        "maxLength is smaller",
    ),
    "a new limit": (
        lambda d: reason(d)["properties"]["reason"].update(minLength=1),
        "minLength is larger",
    ),
    "a new pattern": (
        lambda d: reason(d)["properties"]["reason"].update(pattern="^x"),
        "another pattern",
    ),
    "a shape": (lambda d: move(d)["oneOf"].pop(), "the shapes it takes changed"),
    "an answer's field": (lambda d: session(d)["properties"].pop("lane"), "lane: removed"),
    "an answer's field that may be missing": (
        lambda d: session(d)["required"].remove("held"),
        "200.sessions[].held: may be missing now",
    ),
    "an answer's null": (
        lambda d: session(d)["properties"]["title"].update(
            anyOf=[{"type": "string"}, {"type": "null"}]
        ),
        "title: may now be ['null', 'string']",
    ),
    "an answer's wider number": (
        lambda d: session(d)["properties"]["participants"].update(type="number"),
        "participants: may now be ['number']",
    ),
    "an id's form": (
        lambda d: session(d)["properties"]["session_id"].pop("pattern"),
        "session_id: another pattern",
    ),
}
ADDS: dict[str, Change] = {
    "nothing": lambda _: None,
    "a path": lambda d: d["paths"].update({"/api/new": d["paths"][QUEUE]}),
    "a way in": lambda d: d["paths"][QUEUE]["get"]["security"].append({"OAuth": []}),
    "an optional parameter": lambda d: d["paths"][QUEUE]["get"]["parameters"].append(
        {"in": "query", "name": "limit", "required": False, "schema": {"type": "integer"}}
    ),
    "an optional field": lambda d: reason(d)["properties"].update(until={"type": "string"}),
    "a word to send": lambda d: rule(d)["properties"]["rule"]["enum"].append("longest-first"),
    "a word to get": lambda d: component("SessionState")(d)["enum"].append("paused"),
    "a wider limit": lambda d: reason(d)["properties"]["reason"].update(maxLength=5000),
    "no limit": lambda d: reason(d)["properties"]["reason"].pop("maxLength"),
    "an answer's field": lambda d: session(d)["properties"].update(moved_by={"type": "string"}),
    "a narrower answer": lambda d: session(d)["properties"]["progress"].update(type="integer"),
    "a refusal less": lambda d: d["paths"][MOVE]["post"]["responses"].pop("403"),
    "other descriptions": lambda d: session(d).update(description="One meeting, in other words."),
}


@pytest.mark.parametrize(("change", "line"), BREAKS.values(), ids=BREAKS)
def test_what_takes_something_from_a_client_is_found(change: Change, line: str) -> None:
    found = breaking_changes(openapi_document(), changed(change))

    assert any(line in entry for entry in found), found


@pytest.mark.parametrize("change", ADDS.values(), ids=ADDS)
def test_what_only_adds_breaks_nobody(change: Change) -> None:
    assert breaking_changes(openapi_document(), changed(change)) == []
