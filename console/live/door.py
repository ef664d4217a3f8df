"""What a request to watch says of whoever sends it, and what it is answered if it is not let in."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from ninja.errors import AuthenticationError

from console.api import problems
from console.away import RETRY_AFTER_S
from console.live.authority import Credential, CredentialKind, Refusal
from console.live.kinds import Kind
from console.live.subjects import JSON

_LOCALE = "django.middleware.locale.LocaleMiddleware"


def credential_of(request: HttpRequest, kind: Kind) -> Credential | None:
    """The token of a machine, else the browser's session; a bad token is never the session's."""
    authorization = request.headers.get("Authorization", "")
    if kind.for_machines and authorization:
        scheme, _, raw = authorization.partition(" ")
        is_bearer = scheme.lower() == "bearer"
        return Credential(CredentialKind.TOKEN, raw.strip()) if is_bearer else None
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return Credential(CredentialKind.SESSION, key) if key else None


def form_of(request: HttpRequest, kind: Kind) -> str:
    """The form that the viewer is sent: JSON, or HTML in the language that the page came in."""
    if kind.for_machines:
        return JSON
    if _LOCALE not in settings.MIDDLEWARE:
        return settings.LANGUAGE_CODE
    return translation.get_language_from_request(request)


def refusal(request: HttpRequest, kind: Kind, why: Refusal) -> HttpResponse:
    """The same answer for what does not exist and what is not theirs."""
    match why:
        case Refusal.SIGNED_OUT:
            answer = problems.of_unauthenticated(request, AuthenticationError())
        case Refusal.NOT_YOURS:
            answer = problems.not_found(request)
        case Refusal.NOT_ALLOWED:
            answer = problems.problem(HTTPStatus.FORBIDDEN, "the token may not read in this guild")
    return _for(kind, answer)


def wrong_method(kind: Kind) -> HttpResponse:
    return _for(kind, problems.method_not_allowed("GET"))


def unavailable(kind: Kind) -> HttpResponse:
    """The database is away, or the process about to end: to be asked again."""
    answer = problems.problem(
        HTTPStatus.SERVICE_UNAVAILABLE, "the queue cannot be reached just now; try again"
    )
    answer["Retry-After"] = str(RETRY_AFTER_S)
    return _for(kind, answer)


def fault(kind: Kind) -> HttpResponse:
    return _for(kind, problems.problem(HTTPStatus.INTERNAL_SERVER_ERROR, "a fault of ours; logged"))


def _for(kind: Kind, answer: HttpResponse) -> HttpResponse:
    """For a page without a body: should anything of it be shown, it is nothing."""
    if not kind.for_machines:
        answer.content = b""
        answer["Content-Type"] = "text/plain; charset=utf-8"
    return answer
