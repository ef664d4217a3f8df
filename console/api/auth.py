"""Who a call of the API comes from, and what of the queue that lets it reach."""

from dataclasses import dataclass
from typing import Protocol, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from console import access
from console.api.parsing import check_content_type
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId
from guildqueue.domain.principal import Caller
from guildqueue.domain.token import Bearer, Verb
from guildqueue.services.tokens import token_bearer


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Whoever came in: ``bearer`` is the token they hold, None for a signed-in browser."""

    caller: Caller
    bearer: Bearer | None


class _Authenticated(Protocol):
    auth: Visitor


class BearerToken(HttpBearer):
    """``Authorization: Bearer gq_…``; one that is not valid is never anybody else's request."""

    def authenticate(self, request: HttpRequest, token: str) -> Visitor:
        bearer = token_bearer(token.strip())
        if bearer is None:
            raise AuthenticationError
        return Visitor(caller=access.caller_with(request, bearer.principal), bearer=bearer)


class SignedIn(APIKeyCookie):
    """A browser's session cookie; whatever may change something needs the CSRF token too."""

    param_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Visitor | None:
        if not request.user.is_authenticated:
            return None
        # Read within its limit before the CSRF check, which would parse a form of any size.
        check_content_type(request)
        if check_csrf(request) is not None:
            raise PermissionDenied("the X-CSRFToken header does not fit the csrftoken cookie")
        return self.authenticate(request, None)

    def authenticate(self, request: HttpRequest, key: str | None) -> Visitor:  # noqa: ARG002
        return Visitor(caller=access.caller_of(request), bearer=None)


def caller_of(request: HttpRequest) -> Caller:
    """Whoever asks, as the ledger names them."""
    return cast(_Authenticated, request).auth.caller


def guild_of(request: HttpRequest, guild_id: int, verb: Verb) -> GuildRecord:
    """The guild, if the visitor may use ``verb`` there; raises Http404 or PermissionDenied."""
    bearer = cast(_Authenticated, request).auth.bearer
    if bearer is None:
        return access.administered_guild(request, guild_id)
    return access.guild_of_token(bearer, guild_id, verb)


def session_guild_of(request: HttpRequest, session_id: int, verb: Verb) -> GuildId:
    """The session's guild, if the visitor may use ``verb`` there; raises as guild_of does."""
    bearer = cast(_Authenticated, request).auth.bearer
    if bearer is None:
        return access.administered_session(request, session_id)
    return access.session_guild_of_token(bearer, session_id, verb)
