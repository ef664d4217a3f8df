"""Who may call what: sessions with CSRF, users' tokens, and tokens with a scope of their own."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.services.browse import events_page
from guildqueue.services.membership import remove_administrator
from guildqueue.services.tokens import issue_token, list_tokens, revoke_token
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, browser_of, problem_of, token_of

pytestmark = pytest.mark.django_db
NOBODYS = BIGINT_MAX


@pytest.fixture
def guild() -> GuildId:
    guild_id = builders.stored_guild()
    builders.stored_user("ada", guilds=[guild_id])
    return guild_id


def queue_path(guild: int) -> str:
    return f"/api/guilds/{guild}/queue"


def scoped(guild: GuildId, *verbs: str) -> Caller:
    """A token that is nobody's, for one guild."""
    raw = issue_token("a script", guild_ids=[guild], verbs=verbs)
    return Caller({"Authorization": f"Bearer {raw}"})


def assert_unauthorised(response: Any) -> None:
    assert problem_of(response)["status"] == 401
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_an_administrator_comes_in_with_a_token_and_with_a_browser(guild: GuildId) -> None:
    for caller in (token_of("ada"), browser_of("ada")):
        assert caller.get(queue_path(guild)).status_code == 200


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Bearer gq_nope", "Bearer nope", "Bearer gq_\xff", "Basic YTpi"],
)
def test_nobody_and_a_token_that_is_not_valid_are_a_401(guild: GuildId, authorization: str) -> None:
    assert_unauthorised(Caller({"Authorization": authorization}).get(queue_path(guild)))
    assert_unauthorised(Caller().get(queue_path(guild)))


def test_a_token_may_be_spelt_with_any_case_of_its_scheme(guild: GuildId) -> None:
    raw = builders.bearer("ada")["Authorization"].removeprefix("Bearer ")

    for spelling in (f"bearer {raw}", f"BEARER  {raw} "):
        assert Caller({"Authorization": spelling}).get(queue_path(guild)).status_code == 200


def test_a_revoked_token_and_one_of_a_deactivated_user_are_a_401(guild: GuildId) -> None:
    revoked, orphaned = token_of("ada"), token_of("ada")

    revoke_token(list_tokens()[0].token_id)
    assert_unauthorised(revoked.get(queue_path(guild)))
    assert orphaned.get(queue_path(guild)).status_code == 200
    User.objects.update(is_active=False)
    assert_unauthorised(orphaned.get(queue_path(guild)))


def test_a_bad_token_never_falls_back_to_the_browser_that_sends_it(guild: GuildId) -> None:
    caller = browser_of("ada")
    caller.headers = {"Authorization": "Bearer gq_nope"}

    assert_unauthorised(caller.get(queue_path(guild)))


def test_a_proxys_own_password_leaves_the_browser_signed_in(guild: GuildId) -> None:
    caller = browser_of("ada")
    caller.headers = {"Authorization": "Basic YTpi"}

    assert caller.get(queue_path(guild)).status_code == 200


def test_a_browser_needs_the_csrf_token_to_change_something_and_a_token_does_not(
    guild: GuildId,
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="ada"))
    client.get(f"/guilds/{guild}/")
    browser, path = Caller(client=client), f"/api/guilds/{guild}/hold"
    before = fingerprint()

    without = problem_of(browser.post(path))
    wrong = Caller({"X-CSRFToken": "x" * 64}, client).post(path)
    assert fingerprint() == before
    right = Caller({"X-CSRFToken": client.cookies["csrftoken"].value}, client).delete(path)
    token = Caller(builders.bearer("ada"), Client(enforce_csrf_checks=True)).post(path)

    assert without["status"] == 403
    assert "X-CSRFToken" in without["detail"]
    assert problem_of(wrong)["status"] == 403
    assert right.status_code == token.status_code == 200
    assert browser.get(queue_path(guild)).status_code == 200


def test_another_sites_page_cannot_use_a_browsers_cookie(guild: GuildId) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="ada"))
    client.get(f"/guilds/{guild}/")
    headers = {
        "X-CSRFToken": client.cookies["csrftoken"].value,
        "Origin": "https://evil.example",
    }

    response = Caller(headers, client).post(f"/api/guilds/{guild}/hold")

    assert problem_of(response)["status"] == 403
    assert "Access-Control-Allow-Origin" not in response


def test_none_and_not_yours_are_the_same_404(guild: GuildId) -> None:
    builders.stored_user("ivo", guilds=[builders.stored_guild(builders.MAGPIE)])
    session = builders.stored_session(guild)
    ivo = token_of("ivo")

    answers = [
        ivo.get(path) for path in (queue_path(guild), queue_path(NOBODYS), "/api/nowhere", "/api/")
    ]
    answers += [ivo.post(f"/api/sessions/{asked}/cancel") for asked in (session, NOBODYS, 0)]

    assert {response.status_code for response in answers} == {404}
    assert {problem_of(response)["detail"] for response in answers} == {
        "there is no such thing here, or it is not yours"
    }
    assert len({response.content for response in answers}) == 1


def test_a_demoted_administrator_is_a_stranger_at_once(guild: GuildId) -> None:
    callers = [token_of("ada"), browser_of("ada")]
    assert {caller.get(queue_path(guild)).status_code for caller in callers} == {200}

    remove_administrator("ada", guild_id=guild)

    assert {caller.get(queue_path(guild)).status_code for caller in callers} == {404}


def test_a_token_of_its_own_does_what_its_verbs_say_where_its_guilds_are(guild: GuildId) -> None:
    reader, mover = scoped(guild, "read"), scoped(guild, "move")
    asked = builders.stored_session(guild)
    queue, rule = queue_path(guild), {"rule": "short-recordings-first"}
    reads = [("GET", queue, {}), ("POST", f"{queue}/priority/preview", rule)]
    changes: list[tuple[str, str, object]] = [
        ("POST", f"{queue}/priority", rule),
        ("POST", f"/api/sessions/{asked}/queue/priority", {"place": "first"}),
        *((method, f"/api/guilds/{guild}/hold", {}) for method in ("POST", "DELETE")),
        *((method, f"/api/sessions/{asked}/hold", {}) for method in ("POST", "DELETE")),
        *(("POST", f"/api/sessions/{asked}/{verb}", {}) for verb in ("cancel", "requeue")),
    ]

    before = fingerprint()
    assert {reader.call(*call).status_code for call in reads} == {200}
    refused = [problem_of(reader.call(*call)) for call in changes]
    refused += [problem_of(mover.call(*call)) for call in reads]
    assert fingerprint() == before
    assert {problem["status"] for problem in refused} == {403}
    assert {mover.call(*call).status_code for call in changes} == {200}


def test_a_token_of_its_own_sees_no_other_guild(guild: GuildId) -> None:
    magpie = builders.stored_guild(builders.MAGPIE)
    elsewhere = builders.stored_session(magpie)
    caller = scoped(guild, "read", "move")
    before = fingerprint()

    answers = [
        caller.get(queue_path(magpie)),
        caller.get(queue_path(NOBODYS)),
        caller.post(f"/api/sessions/{elsewhere}/cancel"),
        caller.post(f"/api/sessions/{NOBODYS}/cancel"),
    ]

    assert {response.status_code for response in answers} == {404}
    assert len({response.content for response in answers}) == 1
    assert fingerprint() == before


def test_the_ledger_names_a_token_of_its_own(guild: GuildId) -> None:
    scoped(guild, "move").post(f"/api/guilds/{guild}/hold")

    assert events_page(guild)[0].by == "token:a script"
