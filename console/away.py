"""What a request gets while the database cannot be reached: 503, and no traceback."""

import sys

import psycopg
import structlog
from django.db.utils import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import TemplateDoesNotExist, loader
from django.views import defaults
from psycopg_pool import PoolTimeout

RETRY_AFTER_S = 5
_GONE_STATES = {
    "53300",  # too many connections
    "57P01",  # the server is told to stop
    "57P02",  # a child of it crashed
    "57P03",  # it is starting or stopping
    "57P05",  # the session was idle for too long
}
_log = structlog.get_logger(__name__)


def is_away(error: BaseException | None) -> bool:
    """Whether ``error`` means an unreachable database, not a statement that it refused.

    A deadlock or a lock timeout is an OperationalError too, but the database answered.
    """
    if not isinstance(error, (OperationalError, InterfaceError, psycopg.Error)):
        return False
    source = error.__cause__ if error.__cause__ is not None else error
    if isinstance(source, PoolTimeout):
        return True
    if isinstance(error, InterfaceError) or isinstance(source, psycopg.InterfaceError):
        return "connection" in str(source)
    if not isinstance(source, (OperationalError, psycopg.OperationalError)):
        return False
    state = getattr(source, "sqlstate", None)
    return state is None or state.startswith("08") or state in _GONE_STATES


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """The 503 in the form the caller reads: JSON under /api/, else a page or plain words."""
    _log.warning("database away", reason=str(error).strip().splitlines()[:1])
    detail = "the database does not answer; try again in a moment"
    is_api = request.path.startswith("/api/")
    response = _problem(503, "Service Unavailable", detail) if is_api else _page()
    response["Retry-After"] = str(RETRY_AFTER_S)
    response["Cache-Control"] = "no-store"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: also catches the database going away inside a middleware."""
    error = sys.exc_info()[1]
    if error is not None and is_away(error):
        return unavailable(request, error)
    if request.path.startswith("/api/"):
        return _problem(500, "Internal Server Error", "a fault of this server; it is in its log")
    try:
        response: HttpResponse = defaults.server_error(request)
    except ValueError:  # a style that nobody collected
        words = "Something broke here, and it has been written to the log.\n"
        response = HttpResponse(words, status=500, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "no-store"
    return response


def _problem(status: int, title: str, detail: str) -> HttpResponse:
    problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JsonResponse(problem, status=status, content_type="application/problem+json")


def _page() -> HttpResponse:
    try:
        # Without the request: its context processors would ask the database for the user.
        return HttpResponse(loader.render_to_string("503.html"), status=503)
    except (TemplateDoesNotExist, ValueError):  # or a style that nobody collected
        words = "The queue cannot be reached just now. Try again in a moment.\n"
        return HttpResponse(words, status=503, content_type="text/plain; charset=utf-8")
