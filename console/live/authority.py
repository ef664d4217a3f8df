"""Who may watch: asked when a stream opens and again with every heartbeat, for all at once."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from console import access
from guildqueue.domain.errors import SessionNotFound
from guildqueue.domain.ids import GuildId, SessionId, UserId
from guildqueue.domain.token import Bearer, Verb
from guildqueue.services import browse, tokens

_SESSION_KEY = re.compile(r"[0-9a-z]{8,40}")


class CredentialKind(StrEnum):
    """What vouches for whoever opens a stream."""

    SESSION = "session"
    TOKEN = "token"  # noqa: S105 - a kind, no secret


@dataclass(frozen=True, slots=True)
class Credential:
    """A browser's session key or a machine's bearer token."""

    kind: CredentialKind
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody wants to watch: a guild, a session, or with neither their own guilds."""

    credential: Credential | None
    guild_id: GuildId | None = None
    session_id: SessionId | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """They may. ``user_id`` is None for a token that is no user's."""

    user_id: UserId | None
    guild_id: GuildId | None


class Refusal(StrEnum):
    """Why they may not, or no longer; the reason that a stream ends with."""

    SIGNED_OUT = "signed-out"
    NOT_YOURS = "not-yours"
    NOT_ALLOWED = "not-allowed"


Verdict = Admitted | Refusal


def judge(asked: Collection[Asked]) -> Mapping[Asked, Verdict]:
    """The verdict on each; four reads whatever their number, and one more a session asked for."""
    guilds = _guilds({question.session_id for question in asked})
    of = {q: q.guild_id if q.session_id is None else guilds[q.session_id] for q in asked}
    visitors = _visitors({q.credential for q in asked if q.credential is not None})
    pairs = {(_user_of(visitors.get(question.credential)), of[question]) for question in asked}
    allowed = access.administered_pairs(
        {(u, g) for u, g in pairs if u is not None and g is not None}
    )
    return {q: _verdict(q, visitors.get(q.credential), of[q], allowed) for q in asked}


def _guilds(session_ids: Collection[SessionId | None]) -> dict[SessionId, GuildId | None]:
    """The guild of each session; None for a session that is not there."""
    found: dict[SessionId, GuildId | None] = {}
    for session_id in session_ids:
        if session_id is None:
            continue
        try:
            found[session_id] = browse.session_guild(session_id)
        except SessionNotFound:
            found[session_id] = None
    return found


Visitor = UserId | Bearer


def _verdict(
    asked: Asked,
    visitor: Visitor | None,
    guild_id: GuildId | None,
    allowed: Collection[tuple[UserId, GuildId]],
) -> Verdict:
    if visitor is None:
        return Refusal.SIGNED_OUT
    user_id = _user_of(visitor)
    if asked.guild_id is None and asked.session_id is None:
        return Admitted(user_id, None) if user_id is not None else Refusal.NOT_ALLOWED
    if guild_id is None:
        return Refusal.NOT_YOURS
    if isinstance(visitor, Bearer) and user_id is None:
        return _scoped(visitor, guild_id)
    return Admitted(user_id, guild_id) if (user_id, guild_id) in allowed else Refusal.NOT_YOURS


def _scoped(bearer: Bearer, guild_id: GuildId) -> Verdict:
    if guild_id not in bearer.guild_ids:
        return Refusal.NOT_YOURS
    return Admitted(None, guild_id) if Verb.READ in bearer.verbs else Refusal.NOT_ALLOWED


def _user_of(visitor: Visitor | None) -> UserId | None:
    return visitor.user_id if isinstance(visitor, Bearer) else visitor


def _visitors(credentials: Collection[Credential]) -> dict[Credential | None, Visitor]:
    """Whoever the credentials let in; those that let nobody in are not there."""
    sessions = [c for c in credentials if c.kind is CredentialKind.SESSION]
    # One key that the database refuses would have everybody's answer refused with it.
    keys = {c.secret: c for c in sessions if _SESSION_KEY.fullmatch(c.secret)}
    raws = {c.secret: c for c in credentials if c.kind is CredentialKind.TOKEN}
    users = session_users(keys) if keys else {}
    bearers = tokens.token_bearers(raws) if raws else {}
    return {
        **{keys[key]: user_id for key, user_id in users.items()},
        **{raws[raw]: bearer for raw, bearer in bearers.items()},
    }


def session_users(keys: Collection[str]) -> dict[str, UserId]:
    """The active users whose sessions those are, as Django's own login would have it."""
    store = SessionStore()
    stored = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    contents = {session.session_key: store.decode(session.session_data) for session in stored}
    ids = {str(content.get(SESSION_KEY, "")) for content in contents.values()} - {""}
    users = {str(user.pk): user for user in User.objects.filter(pk__in=ids, is_active=True)}
    return {
        key: UserId(user.pk)
        for key, content in contents.items()
        if (user := users.get(str(content.get(SESSION_KEY, "")))) is not None
        and _is_current(content, user)
    }


def _is_current(content: Mapping[str, object], user: User) -> bool:
    """Whether the session was made by a sign-in that still counts: same backend, same password."""
    if content.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return False
    made_with = str(content.get(HASH_SESSION_KEY, ""))
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(made_with, known) for known in hashes)
