"""What every request gets: a correlation id, a line in the log, a 503 without a database."""

import re
import secrets
import time
from collections.abc import Callable
from typing import Protocol, cast

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from console import away, measures
from console.api.patience import patience_of

Handler = Callable[[HttpRequest], HttpResponseBase]

_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET_PATHS = ("/static/", "/healthz", "/metrics")
_log = structlog.get_logger(__name__)


class Correlated(Protocol):
    """A request as views see it: what it caused can be found in log and ledger by this id."""

    correlation_id: str


def correlation(get_response: Handler) -> Handler:
    """Name the request, say so in the answer, and write one line about it.

    A caller's X-Request-ID is taken over only if it is short and plain: it ends up in logs,
    in the ledger and in a header.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        chosen = given if _ACCEPTED_ID.fullmatch(given) else secrets.token_hex(16)
        cast(Correlated, request).correlation_id = chosen
        patience = patience_of(request)
        started = time.perf_counter() if patience is None else patience.began
        with structlog.contextvars.bound_contextvars(correlation_id=chosen):
            response = get_response(request)

        def note() -> None:
            with structlog.contextvars.bound_contextvars(correlation_id=chosen):
                _note(request, response, duration_s=time.perf_counter() - started)

        if patience is None:
            note()
        else:
            patience.note = note
        response["X-Request-ID"] = chosen
        return response

    return middleware


class DatabaseAway:
    """A view that meets an unreachable database answers 503.

    The innermost middleware, and a synchronous one: that keeps all the others in one thread
    hop under ASGI instead of two hops each.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return away.unavailable(request, error) if away.is_away(error) else None


def _note(request: HttpRequest, response: HttpResponseBase, *, duration_s: float) -> None:
    match = request.resolver_match
    route = match.view_name if match is not None else ""
    measures.count_request(request.method, route, response.status_code, duration_s=duration_s)
    write = _log.debug if request.path.startswith(_QUIET_PATHS) else _log.info
    write(
        "request",
        method=request.method,
        path=request.path,
        status=response.status_code,
        duration_ms=round(duration_s * 1000, 1),
    )
