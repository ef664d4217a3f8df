"""Who a call of the API comes from, and what of the queue that lets it reach."""

from dataclasses import dataclass, replace
from typing import Protocol, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from console import access
from console.api.parsing import check_content_type
from guildqueue.domain.filters import JobFilter
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


def lease_holder_of(request: HttpRequest) -> str:
    """Whose leases are those that this visitor is given."""
    visitor = visitor_of(request)
    return visitor.bearer.lease_holder if visitor.bearer else str(visitor.caller.principal)


def visitor_of(request: HttpRequest) -> Visitor:
    """Whoever came in."""
    return cast(_Authenticated, request).auth


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


def job_guild_of(request: HttpRequest, job_id: int, verb: Verb) -> GuildId:
    """The job's guild, if the visitor may use ``verb`` there; raises as guild_of does."""
    return guild_of(request, access.job_guild(job_id), verb).id


def within_scope(request: HttpRequest, wanted: JobFilter, verb: Verb) -> JobFilter | None:
    """``wanted`` in no guild but the visitor's; None for a visitor who has none.

    Raises Http404 for a guild named that is not theirs, PermissionDenied for the verb.
    """
    visitor = visitor_of(request)
    if visitor.bearer is None:
        user_id = access.user_id_of(request)
        guild_ids = access.administered_guilds_for(user_id, wanted.guilds)
    else:
        guild_ids = access.guilds_of_token(visitor.bearer, wanted.guilds, verb)
    # An empty set would restrict nothing.
    return replace(wanted, guilds=guild_ids) if guild_ids else None
