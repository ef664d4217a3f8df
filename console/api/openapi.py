"""The description of the API that is served, committed and compared."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from console.api.application import api
from console.api.problems import MEDIA_TYPE

PREFIX = "/api/"
PROBLEMS = [{"$ref": f"#/components/schemas/{name}"} for name in ("Problem", "LaneProblem")]
NOTHING = "#/components/schemas/Nothing"
QUEUE = "/api/guilds/{guild_id}/queue"
STREAM = """The queue as it changes, for as long as the connection lasts: server-sent events.

Each event is named `snapshot`, its data is the snapshot on one line and its id the snapshot's
version. The first comes at once, the next ones when something changed.
"""


@require_safe
def openapi_json(request: HttpRequest) -> HttpResponse:
    """For anybody: it says no more than the repository does."""
    return HttpResponse(openapi_text(), content_type="application/json")


@cache
def openapi_text() -> str:
    """The document as it is committed: indented, with a line end."""
    return json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"


def openapi_document() -> dict[str, Any]:
    """OpenAPI 3.1 of every call, as plain JSON values."""
    document: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix=PREFIX)))
    document["servers"] = [{"url": "/"}]
    del document["components"]["schemas"]["Nothing"]
    for method, operation in _operations(document):
        _simplify_body(operation)
        if method == "get":
            del operation["responses"]["413"], operation["responses"]["415"]
        for response in operation["responses"].values():
            _name_problem(response)
        header = {"description": "Bearer", "schema": {"type": "string"}}
        operation["responses"]["401"]["headers"] = {"WWW-Authenticate": header}
    document["paths"][f"{QUEUE}/stream"] = {"get": _stream(document["paths"][QUEUE]["get"])}
    return document


def _stream(reading: dict[str, Any]) -> dict[str, Any]:
    """The stream, which ninja does not serve: who may read the queue may watch it."""
    refusals = {status: reading["responses"][status] for status in ("401", "403", "404", "503")}
    events = {"description": "OK", "content": {"text/event-stream": {}}}
    return {
        **reading,
        "operationId": "watch_queue",
        "summary": "Watch Queue",
        "description": STREAM,
        "parameters": [p for p in reading["parameters"] if p["in"] == "path"],
        "responses": {"200": events, **refusals},
    }


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in document["paths"].values():
        yield from path.items()


def _simplify_body(operation: dict[str, Any]) -> None:
    """A body that may be left out stays a plain reference, and one without fields goes.

    A call without fields reads its body only to refuse one, so a client sends none.
    """
    if "requestBody" not in operation:
        return
    media = operation["requestBody"]["content"]["application/json"]
    media["schema"] = media["schema"].get("allOf", [media["schema"]])[0]
    if media["schema"] == {"$ref": NOTHING}:
        del operation["requestBody"]


def _name_problem(response: dict[str, Any]) -> None:
    """Ninja knows one media type for all answers; problems have their own."""
    content = response["content"]
    if content["application/json"]["schema"] in PROBLEMS:
        response["content"] = {MEDIA_TYPE: content["application/json"]}
