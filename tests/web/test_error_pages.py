"""What a page says when something is missing, forbidden, broken or away."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import OperationalError, connection
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.views import defaults

from tests import builders
from tests.builders import MAGPIE, STARLING, signed_in, stored_guild, stored_user
from tests.web.pages import Markup


class Untouchable(AnonymousUser):
    """A user that nobody may look at."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"the page asked for the user's {name}")


@pytest.fixture
def bare_request() -> HttpRequest:
    request = RequestFactory().get("/guilds/")
    request.user = Untouchable()
    return request


@pytest.mark.usefixtures("committed_db")
def test_none_and_not_yours_are_answered_with_the_same_body() -> None:
    stored_guild(MAGPIE, name="Magpie Collective")
    theirs = builders.stored_session(MAGPIE)
    client = signed_in(stored_user("ada", guilds=[stored_guild()]))
    paths = [
        f"/guilds/{MAGPIE}/",
        "/guilds/7/",
        "/guilds/99999999999999999999/",
        f"/guilds/{'9' * 30}/",
        "/guilds/-1/",
        f"/sessions/{theirs}/",
        "/sessions/987654321/",
        f"/sessions/{theirs}/cancel",
        f"/sessions/{theirs}/document.md",
        "/nowhere/",
    ]

    answers = [client.get(path) for path in paths]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.usefixtures("committed_db")
def test_a_refused_stranger_changes_nothing() -> None:
    guild = stored_guild(MAGPIE, name="Magpie Collective")
    session_id = builders.stored_session(guild)
    before = builders.session_jobs(session_id)
    client = signed_in(stored_user("ada", guilds=[stored_guild()]))

    answers = [
        client.post(f"/sessions/{session_id}/{verb}", {"to": "first", "reason": "mine"})
        for verb in ("move", "hold", "release", "cancel", "requeue")
    ]
    answers += [
        client.post(f"/guilds/{guild}/{verb}")
        for verb in ("hold", "release", "rules/many-participants-first")
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert builders.session_jobs(session_id) == before


@pytest.mark.usefixtures("committed_db")
def test_a_form_without_its_token_is_explained_and_changes_nothing() -> None:
    session_id = builders.stored_session(stored_guild(), title="Retrospective")
    client = signed_in(stored_user("ada", guilds=[STARLING]), enforce_csrf_checks=True)
    came_from = f"http://testserver/guilds/{STARLING}/"

    answer = client.post(f"/sessions/{session_id}/cancel", headers={"Referer": came_from})

    html = answer.content.decode()
    assert answer.status_code == 403
    assert "That form is out of date" in html
    assert f'href="{came_from}"' in html
    assert builders.session_jobs(session_id)[0].state == "pending"


@pytest.mark.usefixtures("committed_db")
@pytest.mark.parametrize("referer", ["https://evil.example/", "javascript:alert(1)", ""])
def test_a_form_from_elsewhere_is_led_to_the_guilds(referer: str) -> None:
    client = Client(enforce_csrf_checks=True)

    answer = client.post("/accounts/login/", headers={"Referer": referer} if referer else {})

    assert 'href="/guilds/"' in answer.content.decode()
    assert "evil" not in answer.content.decode()


@pytest.mark.parametrize("name", ["500.html", "503.html"])
def test_the_pages_of_a_broken_server_need_no_request(name: str) -> None:
    html = render_to_string(name)

    assert Markup(html).blocked == []
    assert "<h1>" in html


def test_a_server_error_is_shown_without_the_user_or_the_database(
    bare_request: HttpRequest,
) -> None:
    answer = defaults.server_error(bare_request)

    assert answer.status_code == 500
    assert "Something broke here" in answer.content.decode()


def test_a_forbidden_page_says_that_nothing_was_changed(bare_request: HttpRequest) -> None:
    answer = defaults.permission_denied(bare_request, PermissionDenied("secret detail"))

    html = answer.content.decode()
    assert answer.status_code == 403
    assert "Nothing was changed" in html
    assert "secret detail" not in html


@pytest.mark.usefixtures("committed_db")
def test_a_page_while_the_database_is_away_is_a_503_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guild = stored_guild()
    client = signed_in(stored_user("ada", guilds=[guild]))

    def refuse() -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as away:
        away.setattr(connection, "ensure_connection", refuse)
        connection.close()
        answer = client.get(f"/guilds/{guild}/")
    back = client.get(f"/guilds/{guild}/")

    assert answer.status_code == 503
    assert "The queue cannot be reached just now" in answer.content.decode()
    assert back.status_code == 200
