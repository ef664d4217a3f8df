"""Requests and answers as both clients send and read them."""

import json
from collections.abc import Mapping
from typing import Any

import httpx2 as httpx

from guildqueue.client.errors import ConsoleAway, LeaseLost, RequestFailed
from guildqueue.domain.filters import JobFilter

Body = dict[str, Any]
LOST = frozenset({"stale-lease", "cancelled"})
# Of these nothing reached the queue, so that asking once more cannot do a thing twice.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
WAIT_MOST_S = 60.0


def headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


def timeout(patience_s: float) -> httpx.Timeout:
    """Of one request that the console may answer only after ``patience_s``."""
    return httpx.Timeout(15.0, read=patience_s + 30.0)


def read_answer(response: httpx.Response) -> Body:
    """The answer's body. Raises ConsoleAway, LeaseLost or RequestFailed."""
    try:
        found = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        found = None
    body: Body = found if isinstance(found, dict) else {}
    if response.is_success:
        return body
    if response.status_code in (502, 503, 504):
        raise ConsoleAway(body.get("detail") or f"the console answers {response.status_code}")
    if response.status_code == 409 and body.get("refusal") in LOST:
        raise LeaseLost(response.status_code, body)
    raise RequestFailed(response.status_code, body)


def claim_body(
    wanted: JobFilter, *, count: int, ttl_s: float, wait_s: float, request_id: str
) -> Body:
    return {
        "filter": claim_filter(wanted),
        "count": count,
        "ttl": ttl_s,
        "wait": min(wait_s, WAIT_MOST_S),
        "request_id": request_id,
    }


def claim_filter(wanted: JobFilter) -> Body:
    """The filter as calls that take work know it. Raises InvalidInput."""
    spelled = wanted.for_claim().to_json()
    return {name: value for name, value in spelled.items() if name not in ("states", "held")}


def completion(result: Mapping[str, Any] | None, audio_seconds: float | None) -> Body:
    return {"result": dict(result or {}), "audio_seconds": audio_seconds}


def failure(error: str, permanent: bool) -> Body:
    return {"error": error, "permanent": permanent}
