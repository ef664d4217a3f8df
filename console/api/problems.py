"""What an answer says when it is not the one hoped for: RFC 9457 problems and their statuses."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError

from console.api.parsing import MalformedJson, NotJson
from guildqueue.domain import errors
from guildqueue.domain.errors import InvalidInput, QueueError, RequestRefused
from guildqueue.domain.lane_refusals import LaneRefusal

MEDIA_TYPE = "application/problem+json"
# Where the status alone says what went wrong (RFC 9457, 4.2.1).
PLAIN = "about:blank"
TYPES = "urn:problem-type:guildqueue:"

STATUS_OF: Mapping[type[QueueError], HTTPStatus] = {
    errors.InvalidInput: HTTPStatus.BAD_REQUEST,
    errors.GuildNotFound: HTTPStatus.NOT_FOUND,
    errors.SessionNotFound: HTTPStatus.NOT_FOUND,
    errors.JobNotFound: HTTPStatus.NOT_FOUND,
    errors.UserNotFound: HTTPStatus.NOT_FOUND,
    errors.SessionLeftQueue: HTTPStatus.CONFLICT,
    errors.NeighbourLeftQueue: HTTPStatus.CONFLICT,
    errors.InLane: HTTPStatus.CONFLICT,
    errors.PriorityExhausted: HTTPStatus.CONFLICT,
    errors.NothingOutstanding: HTTPStatus.CONFLICT,
    errors.NothingToRequeue: HTTPStatus.CONFLICT,
    errors.StaleLease: HTTPStatus.CONFLICT,
    errors.LeaseCancelled: HTTPStatus.CONFLICT,
    errors.QueueBusy: HTTPStatus.CONFLICT,
}
"""The one table from a fact to a status; docs/architecture.md repeats it, and a test compares."""


LANE_STATUS: Mapping[LaneRefusal, HTTPStatus] = {
    **dict.fromkeys(LaneRefusal, HTTPStatus.CONFLICT),
    LaneRefusal.NOT_GRANTED: HTTPStatus.FORBIDDEN,
    LaneRefusal.NO_SUCH_JOB: HTTPStatus.NOT_FOUND,
    LaneRefusal.NO_SUCH_SESSION: HTTPStatus.NOT_FOUND,
}
"""The same for a refused bump or un-bump, by its word."""


class UnknownField(InvalidInput):
    """A field that the call does not have."""

    def __init__(self, field: str, known: tuple[str, ...]) -> None:
        super().__init__(field, None, known or ("none",))
        self.args = (f"{errors.shortened(field)}: no such field; known: {self.allowed}",)


class MissingField(InvalidInput):
    """A field that the call cannot do without."""

    def __init__(self, field: str, known: tuple[str, ...]) -> None:
        super().__init__(field, None, known)
        self.args = (f"{field} is missing; known: {self.allowed}",)


KINDS = {UnknownField: "unknown-field", MissingField: "missing-field"}


def problem(
    status: HTTPStatus, detail: str, *, kind: str | None = None, **members: Any
) -> HttpResponse:
    """A problem; ``kind`` names it where the status alone does not."""
    body = {
        "type": PLAIN if kind is None else f"{TYPES}{kind}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        **members,
    }
    response = HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE)
    response["Cache-Control"] = "no-store"
    return response


def not_found(request: HttpRequest, error: Exception | None = None) -> HttpResponse:
    """One body for what does not exist and what is not the caller's: nothing tells them apart."""
    return problem(HTTPStatus.NOT_FOUND, "there is no such thing here, or it is not yours")


def of_queue_error(request: HttpRequest, error: QueueError) -> HttpResponse:
    # An error of this module is a kind of one in the table.
    status = next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    if status is HTTPStatus.NOT_FOUND:
        return not_found(request)
    if isinstance(error, InvalidInput):
        kind = KINDS.get(type(error), "invalid-value")
        return problem(status, str(error), kind=kind, field=error.field, allowed=error.allowed)
    if isinstance(error, RequestRefused):
        return problem(status, str(error), kind=error.refusal, refusal=error.refusal)
    return problem(status, str(error))


def of_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """What ninja itself refused; it wraps whatever the parser raised in a 400 of its own."""
    cause = error.__cause__
    if isinstance(cause, NotJson):
        return of_media_type(request, cause)
    detail = str(cause) if isinstance(cause, MalformedJson) else str(error)
    kind = "malformed-json" if isinstance(cause, MalformedJson) else None
    return problem(HTTPStatus(error.status_code), detail, kind=kind)


def of_media_type(request: HttpRequest, error: NotJson) -> HttpResponse:
    response = problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, str(error))
    response["Accept"] = "application/json"
    return response


def of_unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    response = problem(HTTPStatus.UNAUTHORIZED, "sign in, or send a bearer token that is valid")
    response["WWW-Authenticate"] = 'Bearer realm="guild queue"'
    return response


def of_forbidden(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem(HTTPStatus.FORBIDDEN, str(error))


def of_too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the body is larger than this server takes")


def of_unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    return problem(HTTPStatus.BAD_REQUEST, "the request cannot be read")


def of_anything_else(request: HttpRequest, error: Exception) -> HttpResponse:
    """Left to Django, whose middleware knows an absent database from a fault of ours."""
    raise error


def method_not_allowed(allowed: str) -> HttpResponse:
    """``allowed`` is the Allow header: the methods with commas between."""
    response = problem(HTTPStatus.METHOD_NOT_ALLOWED, f"this address takes {allowed}")
    response["Allow"] = allowed
    return response


HANDLERS: Mapping[type[Exception], Any] = {
    Exception: of_anything_else,
    QueueError: of_queue_error,
    Http404: not_found,
    HttpError: of_http_error,
    AuthenticationError: of_unauthenticated,
    PermissionDenied: of_forbidden,
    NotJson: of_media_type,
    RequestDataTooBig: of_too_large,
    SuspiciousOperation: of_unreadable,
    MultiPartParserError: of_unreadable,
    UnreadablePostError: of_unreadable,
}


def install(api: NinjaAPI) -> None:
    """Answer every exception of the API as a problem."""
    for kind, handler in HANDLERS.items():
        api.add_exception_handler(kind, handler)
