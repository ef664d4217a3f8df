"""Quick actions: a page that says what moves where, and the button that applies it."""

import re

import pytest
from django.test import Client

from guildqueue.domain.ids import GuildId
from guildqueue.services.snapshot import queue_snapshot
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")
SHORT, PEOPLE = "rules/short-recordings-first", "rules/many-participants-first"


@pytest.fixture
def guild() -> GuildId:
    guild_id = builders.stored_guild()
    for title, seconds in (("long", 3000.0), ("unknown", None), ("short", 60.0)):
        builders.stored_session(guild_id, title=title, audio_seconds=seconds)
    return guild_id


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


def changes(html: str) -> list[tuple[str, str, str]]:
    """Title, place before and place after, a row of the preview."""
    row = r'<bdi>([^<]*)</bdi></b>.*?<td class="num">(\d+)</td><td class="num"><b>(\d+)</b>'
    return re.findall(row, html, re.DOTALL)


def titles(guild_id: GuildId) -> list[str]:
    return [entry.title for entry in queue_snapshot(guild_id).sessions]


def test_the_preview_says_what_moves_where_and_writes_nothing(ada: Client, guild: GuildId) -> None:
    html = ada.get(f"/guilds/{guild}/{SHORT}").content.decode()

    assert changes(html) == [("short", "3", "1"), ("long", "1", "2"), ("unknown", "2", "3")]
    assert "1 not measured stays behind" in html
    assert titles(guild) == ["long", "unknown", "short"]


def test_what_the_preview_says_is_what_applying_does(ada: Client, guild: GuildId) -> None:
    said = [title for title, _, _ in changes(ada.get(f"/guilds/{guild}/{SHORT}").content.decode())]

    applied = ada.post(f"/guilds/{guild}/{SHORT}", follow=True)

    assert applied.redirect_chain == [(f"/guilds/{guild}/", 303)]
    assert "“Short recordings first” is applied." in applied.content.decode()
    assert titles(guild) == said


def test_a_rule_that_changes_nothing_says_so_before_and_after(ada: Client, guild: GuildId) -> None:
    before = queue_snapshot(guild).sessions

    asked = ada.get(f"/guilds/{guild}/{PEOPLE}").content.decode()
    applied = ada.post(f"/guilds/{guild}/{PEOPLE}", follow=True).content.decode()

    assert "This changes nothing" in asked
    assert 'id="apply"' not in asked
    assert "Nothing to do: the queue already stands" in applied
    assert queue_snapshot(guild).sessions == before


def test_places_of_a_preview_count_the_whole_line(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.SESSIONS_A_PAGE", 2)

    html = ada.get(f"/guilds/{guild}/{SHORT}").content.decode()

    assert changes(html) == [("short", "3", "1"), ("long", "1", "2"), ("unknown", "2", "3")]


def test_an_unknown_rule_is_a_404(ada: Client, guild: GuildId) -> None:
    assert ada.get(f"/guilds/{guild}/rules/loudest-first").status_code == 404
    assert ada.post(f"/guilds/{guild}/rules/loudest-first").status_code == 404


def test_the_queue_leads_to_every_rule(ada: Client, guild: GuildId) -> None:
    html = ada.get(f"/guilds/{guild}/").content.decode()

    assert f'href="/guilds/{guild}/{SHORT}"' in html
    assert f'href="/guilds/{guild}/{PEOPLE}"' in html
    assert "1 not measured stays behind · preview" in html
