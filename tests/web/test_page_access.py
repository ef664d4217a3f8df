"""Signing in and out, and who gets to see which page."""

import pytest
from django.test import Client

from guildqueue.domain.ids import GuildId
from guildqueue.services.membership import remove_administrator
from tests import builders
from tests.builders import PASSWORD, signed_in, stored_user
from tests.web.pages import page_paths, stored_meetings

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


def sign_in(client: Client, username: str, password: str, **more: str) -> str:
    """Where a sign-in leads, or its page where it leads nowhere."""
    form = {"username": username, "password": password, **more}
    response = client.post("/accounts/login/", form)
    return response.get("Location") or response.content.decode()


def test_signing_in_leads_to_the_guilds_and_signing_out_back(guild: GuildId) -> None:
    stored_user("ada", guilds=[guild])
    client = Client()

    assert client.get("/", follow=True).redirect_chain[-1][0] == "/accounts/login/?next=/guilds/"
    assert sign_in(client, "ada", PASSWORD) == "/guilds/"
    assert "Starling Guild" in client.get("/guilds/").content.decode()
    assert client.get("/accounts/logout/").status_code == 405
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert client.get("/guilds/").status_code == 302


@pytest.mark.parametrize(
    ("username", "password"), [("ada", "wrong"), ("nobody", PASSWORD), ("\0", PASSWORD), ("", "")]
)
def test_a_wrong_sign_in_stays_on_the_page_and_says_so(
    guild: GuildId, username: str, password: str
) -> None:
    stored_user("ada", guilds=[guild])

    assert 'class="error"' in sign_in(Client(), username, password)


def test_a_sign_in_never_leads_to_another_site(guild: GuildId) -> None:
    stored_user("ada", guilds=[guild])

    assert sign_in(Client(), "ada", PASSWORD, next="https://evil.example/") == "/guilds/"
    assert sign_in(Client(), "ada", PASSWORD, next=f"/guilds/{guild}/") == f"/guilds/{guild}/"


def test_every_page_asks_a_visitor_to_sign_in(guild: GuildId) -> None:
    paths = page_paths(guild, stored_meetings(guild))
    del paths["nowhere"]

    for path in paths.values():
        response = Client().get(path)
        assert response.status_code == 302, path
        assert response["Location"].startswith("/accounts/login/?next="), path


def test_a_demoted_administrator_sees_nothing_from_that_moment(guild: GuildId) -> None:
    client = signed_in(stored_user("ada", guilds=[guild]))
    paths = page_paths(guild, stored_meetings(guild))
    assert client.get(paths["queue"]).status_code == 200

    remove_administrator("ada", guild_id=guild)

    assert "You administer no guild" in client.get(paths.pop("guilds")).content.decode()
    assert {client.get(path).status_code for path in paths.values()} == {404}


def test_a_deactivated_user_is_signed_out(guild: GuildId) -> None:
    user = stored_user("ada", guilds=[guild])
    client = signed_in(user)

    user.is_active = False
    user.save()

    assert client.get(f"/guilds/{guild}/").status_code == 302


def test_the_guild_list_has_the_users_own_guilds_with_their_counts(guild: GuildId) -> None:
    builders.stored_guild(builders.MAGPIE, name="Magpie Collective")
    builders.stored_session(guild, title="Treasury <review>", n_tracks=2)
    builders.dead_session(guild)
    client = signed_in(stored_user("ada", guilds=[guild]))

    html = client.get("/guilds/").content.decode()

    assert "Next: <b><bdi>Treasury &lt;review&gt;</bdi></b>" in html
    assert '<dt>dead</dt><dd data-state="dead">1</dd>' in html
    assert "Magpie" not in html


def test_what_was_cancelled_or_died_is_not_said_to_have_finished(guild: GuildId) -> None:
    builders.cancelled_session(guild)
    builders.dead_session(guild)
    client = signed_in(stored_user("ada", guilds=[guild]))
    before = client.get("/guilds/").content.decode()

    builders.done_session(guild)
    builders.cancelled_session(guild)

    assert "Last finished" not in before
    assert "Last finished" in client.get("/guilds/").content.decode()


@pytest.mark.parametrize("path", ["/guilds/", "/guilds/{guild}/", "/sessions/{session}/"])
def test_guild_data_is_never_stored_by_caches(guild: GuildId, path: str) -> None:
    session = builders.stored_session(guild)
    client = signed_in(stored_user("ada", guilds=[guild]))

    response = client.get(path.format(guild=guild, session=session))

    assert "no-store" in response["Cache-Control"]
    assert "Cookie" in response["Vary"]


def test_the_content_policy_lets_in_no_script_and_no_style_of_the_page() -> None:
    policy = Client().get("/accounts/login/")["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
