"""Calls of the JSON API as a client makes them."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tests import builders

JSON = "application/json"
PROBLEM = "application/problem+json"
NOTHING = object()


@dataclass
class Caller:
    """Somebody who calls: with a token's headers, or with the client's session cookie."""

    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=Client)

    def send(self, method: str, path: str, body: bytes = b"", *, content_type: str = JSON) -> Any:
        """The answer to exactly these bytes."""
        return self.client.generic(
            method, path, body, content_type=content_type, headers=self.headers
        )

    def call(self, method: str, path: str, body: object = NOTHING) -> Any:
        """The answer to ``body`` as JSON; without one, to no body."""
        return self.send(method, path, b"" if body is NOTHING else json.dumps(body).encode())

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: object = NOTHING) -> Any:
        return self.call("POST", path, body)

    def delete(self, path: str, body: object = NOTHING) -> Any:
        return self.call("DELETE", path, body)


def token_of(username: str) -> Caller:
    """A new token that acts as the user."""
    return Caller(builders.bearer(username))


def browser_of(username: str) -> Caller:
    """A browser in which the user has just signed in; CSRF is checked elsewhere."""
    client = Client()
    assert client.login(username=username, password=builders.PASSWORD)
    return Caller(client=client)


def problem_of(response: Any) -> dict[str, Any]:
    """The problem that an answer is, once it is one."""
    assert response["Content-Type"] == PROBLEM, response.content
    problem: dict[str, Any] = json.loads(response.content)
    assert problem["status"] == response.status_code
    assert problem["title"]
    assert problem["type"]
    return problem
