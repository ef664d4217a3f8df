"""Who may watch is decided for all viewers together, as the pages decide it for one."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.live.authority import (
    Admitted,
    Asked,
    Credential,
    CredentialKind,
    Refusal,
    judge,
)
from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId, UserId
from guildqueue.domain.token import Verb
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.web.streams import cookie

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Credential:
    return Credential(CredentialKind.SESSION, cookie(user).partition("=")[2])


def bearing(raw: str) -> Credential:
    return Credential(CredentialKind.TOKEN, raw)


def verdict(credential: Credential | None, **what: Any) -> Admitted | Refusal:
    asked = Asked(credential=credential, **what)
    return judge([asked])[asked]


def test_an_administrator_may_watch_the_guild_its_sessions_and_their_own_guilds() -> None:
    guild = builders.stored_guild()
    ada = builders.stored_user("ada", guilds=[guild])
    session_id = builders.stored_session(guild)
    user_id = UserId(ada.pk)

    assert verdict(signed_in(ada), guild_id=guild) == Admitted(user_id, guild)
    assert verdict(signed_in(ada), session_id=session_id) == Admitted(user_id, guild)
    assert verdict(signed_in(ada)) == Admitted(user_id, None)


def test_a_user_whose_id_another_guild_shares_gains_nothing_by_it() -> None:
    starling, magpie = builders.stored_guild(), builders.stored_guild(builders.MAGPIE)
    ada = signed_in(builders.stored_user("ada", guilds=[starling]))
    ivo = signed_in(builders.stored_user("ivo", guilds=[magpie]))
    asked = [Asked(credential=c, guild_id=g) for c in (ada, ivo) for g in (starling, magpie)]

    may = [isinstance(found, Admitted) for found in judge(asked).values()]

    assert may == [True, False, False, True]


def test_what_is_missing_is_not_yours_either() -> None:
    ada = signed_in(builders.stored_user("ada"))

    assert verdict(ada, guild_id=GuildId(BIGINT_MAX)) is Refusal.NOT_YOURS
    assert verdict(ada, session_id=SessionId(BIGINT_MAX)) is Refusal.NOT_YOURS
    assert verdict(ada, guild_id=builders.stored_guild()) is Refusal.NOT_YOURS


def test_nobody_is_signed_out_whatever_they_ask_for() -> None:
    guild = builders.stored_guild()
    invented = ("", "no\0ne", "x" * 32, "ü" * 32, "x" * 8000, "' OR 1=1 --")
    sessions = [Credential(CredentialKind.SESSION, key) for key in invented]
    tokens = [bearing(raw) for raw in ("", "gq_no", "gq_\0", "gq_\ud800", "x" * 8000)]
    for credential in (None, *sessions, *tokens):
        assert verdict(credential, guild_id=guild) is Refusal.SIGNED_OUT
        assert verdict(credential, session_id=SessionId(1)) is Refusal.SIGNED_OUT
        assert verdict(credential) is Refusal.SIGNED_OUT


def test_an_expired_session_lets_nobody_in() -> None:
    guild = builders.stored_guild()
    ada = signed_in(builders.stored_user("ada", guilds=[guild]))
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert verdict(ada, guild_id=guild) is Refusal.SIGNED_OUT


def test_a_session_that_was_made_with_the_key_before_still_counts(settings: Any) -> None:
    guild = builders.stored_guild()
    user = builders.stored_user("ada", guilds=[guild])
    ada = signed_in(user)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key that is at least fifty characters long, or so it must be"

    assert verdict(ada, guild_id=guild) == Admitted(UserId(user.pk), guild)
    settings.SECRET_KEY_FALLBACKS = []
    assert verdict(ada, guild_id=guild) is Refusal.SIGNED_OUT


def test_a_session_of_a_backend_that_is_gone_lets_nobody_in(settings: Any) -> None:
    guild = builders.stored_guild()
    ada = signed_in(builders.stored_user("ada", guilds=[guild]))
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]

    assert verdict(ada, guild_id=guild) is Refusal.SIGNED_OUT


def test_a_token_that_is_no_users_has_no_guilds_of_its_own() -> None:
    guild = builders.stored_guild()
    token = bearing(issue_token("reads", guild_ids=[guild], verbs=[Verb.READ]))

    assert verdict(token, guild_id=guild) == Admitted(None, guild)
    assert verdict(token) is Refusal.NOT_ALLOWED


def test_a_hundred_viewers_are_judged_in_four_queries() -> None:
    guilds = [builders.stored_guild(), builders.stored_guild(builders.MAGPIE)]
    asked = []
    for number in range(25):
        user = builders.stored_user(f"user {number}", guilds=guilds)
        token = bearing(issue_token("a token", username=user.username))
        for guild in guilds:
            asked.append(Asked(credential=signed_in(user), guild_id=guild))
            asked.append(Asked(credential=token, guild_id=guild))

    with CaptureQueriesContext(
        connection,
    ) as queries:
        verdicts = judge(asked)

    assert len(queries) == 4
    assert len(verdicts) == 100
    assert all(isinstance(found, Admitted) for found in verdicts.values())


def test_the_sessions_are_those_that_django_stores() -> None:
    assert settings.SESSION_ENGINE == "django.contrib.sessions.backends.db"
