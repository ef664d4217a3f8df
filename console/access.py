"""Who may see and change what; nothing else looks a guild up for a request."""

from collections.abc import Collection
from dataclasses import replace

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from guildqueue.domain.errors import GuildNotFound, JobNotFound, SessionNotFound
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId, JobId, SessionId, UserId
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.domain.token import Bearer, Verb
from guildqueue.services import browse, membership


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


def administered_pairs(
    pairs: Collection[tuple[UserId, GuildId]],
) -> frozenset[tuple[UserId, GuildId]]:
    """Those of the pairs of which the user is active and administers the guild; one read."""
    return membership.administered_pairs(pairs)


def guild_of_token(bearer: Bearer, guild_id: int, verb: Verb) -> GuildRecord:
    """The guild, if the token's user administers it or its scope has it; else Http404.

    Raises PermissionDenied for a guild in scope and a verb that is not.
    """
    if bearer.user_id is not None:
        return administered_guild_for(bearer.user_id, guild_id)
    try:
        guild = browse.guild_record(GuildId(guild_id))
    except GuildNotFound as error:
        raise Http404("no such guild") from error
    _check_scope(bearer, guild.id, verb)
    return guild


def guild_in_scope_of_token(bearer: Bearer, guild_id: int) -> GuildRecord:
    """The guild, whatever the token may do there; Http404 for one outside its scope.

    For requests that are refused on the guild's own record.
    """
    if bearer.user_id is not None:
        return administered_guild_for(bearer.user_id, guild_id)
    return guild_of_token(replace(bearer, verbs=frozenset({Verb.READ})), guild_id, Verb.READ)


def session_guild_of_token(bearer: Bearer, session_id: int, verb: Verb) -> GuildId:
    """The session's guild, if the token reaches it; raises as guild_of_token does."""
    if bearer.user_id is not None:
        return administered_session_for(bearer.user_id, session_id)
    try:
        guild_id = browse.session_guild(SessionId(session_id))
    except SessionNotFound as error:
        raise Http404("no such session") from error
    _check_scope(bearer, guild_id, verb)
    return guild_id


def job_guild(job_id: int) -> GuildId:
    """The job's guild, for whoever then asks whether it is theirs; else Http404."""
    try:
        return browse.job_guild(JobId(job_id))
    except JobNotFound as error:
        raise Http404("no such job") from error


def administered_guilds_for(user_id: UserId, named: Collection[GuildId]) -> frozenset[GuildId]:
    """The named guilds, or all of the user's where none is named.

    Raises Http404 if one that is named is not theirs.
    """
    if not named:
        return frozenset(summary.id for summary in browse.guild_list(user_id))
    if len(administered_pairs({(user_id, guild_id) for guild_id in named})) < len(set(named)):
        raise Http404("a guild that is not the user's")
    return frozenset(named)


def guilds_of_token(bearer: Bearer, named: Collection[GuildId], verb: Verb) -> frozenset[GuildId]:
    """The named guilds, or all of the token's where none is named; raises as guild_of_token."""
    if bearer.user_id is not None:
        return administered_guilds_for(bearer.user_id, named)
    if not bearer.guild_ids.issuperset(named):
        raise Http404("a guild outside the token's scope")
    if verb not in bearer.verbs:
        raise PermissionDenied(f"the token may not {verb}")
    return frozenset(named) or bearer.guild_ids


def _check_scope(bearer: Bearer, guild_id: GuildId, verb: Verb) -> None:
    if guild_id not in bearer.guild_ids:
        raise Http404("a guild outside the token's scope")
    if verb not in bearer.verbs:
        raise PermissionDenied(f"the token may not {verb} in this guild")


def user_id_of(request: HttpRequest) -> UserId:
    """The signed-in user; raises Http404 where nobody is, as nothing is theirs."""
    user: User | AnonymousUser = request.user
    if user.pk is None:
        raise Http404("nobody is signed in")
    return UserId(user.pk)


def caller_of(request: HttpRequest) -> Caller:
    """The signed-in user as the ledger names whoever asked, tied to the request's log lines."""
    return caller_with(request, Principal(PrincipalKind.USER, request.user.get_username()))


def caller_with(request: HttpRequest, principal: Principal) -> Caller:
    """``principal`` as the ledger names whoever asked, tied to the request's log lines."""
    return Caller(principal=principal, correlation_id=getattr(request, "correlation_id", ""))
