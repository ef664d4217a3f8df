"""Who may see and change what; nothing else looks a guild up for a request."""

from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest

from guildqueue.domain.errors import GuildNotFound, SessionNotFound
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId, SessionId, UserId
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services import membership


def administered_guild(request: HttpRequest, guild_id: int) -> GuildRecord:
    """The guild, if the request's user administers it; raises Http404 for all else alike."""
    return administered_guild_for(user_id_of(request), guild_id)


def administered_session(request: HttpRequest, session_id: int) -> GuildId:
    """The session's guild, if the request's user administers it; else Http404, alike."""
    return administered_session_for(user_id_of(request), session_id)


def administered_guild_for(user_id: UserId, guild_id: int) -> GuildRecord:
    """The guild, if the user is active and administers it; raises Http404 for all else."""
    try:
        return membership.administered_guild(user_id, guild_id=GuildId(guild_id))
    except GuildNotFound as error:
        raise Http404("no such guild") from error


def administered_session_for(user_id: UserId, session_id: int) -> GuildId:
    """The session's guild, if the user is active and administers it; else Http404."""
    try:
        return membership.administered_session(user_id, session_id=SessionId(session_id))
    except SessionNotFound as error:
        raise Http404("no such session") from error


def user_id_of(request: HttpRequest) -> UserId:
    """The signed-in user; raises Http404 where nobody is, as nothing is theirs."""
    user: User | AnonymousUser = request.user
    if user.pk is None:
        raise Http404("nobody is signed in")
    return UserId(user.pk)


def caller_of(request: HttpRequest) -> Caller:
    """The signed-in user as the ledger names whoever asked, tied to the request's log lines."""
    return Caller(
        principal=Principal(PrincipalKind.USER, request.user.get_username()),
        correlation_id=getattr(request, "correlation_id", ""),
    )
