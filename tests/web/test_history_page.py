"""The history: on the queue page, and as a page of its own that goes back to the beginning."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation
from django.utils.html import strip_tags

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.services.bump import bump_session
from guildqueue.services.hold import hold_guild, hold_session, release_guild
from guildqueue.services.move import move_session
from tests import builders
from tests.builders import MAGPIE, STARLING, caller, stored_session
from tests.db.lane_requests import operator, rooted_guild
from tests.web.pages import HOSTILE

pytestmark = pytest.mark.django_db
HISTORY = f"/guilds/{STARLING}/history"


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path)


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("guildqueue.services.browse", "console.views.contexts"):
        monkeypatch.setattr(f"{module}.EVENTS_A_PAGE", 2)


def sentences(html: str) -> list[str]:
    return [strip_tags(found).strip() for found in re.findall(r'class="told">(.*?)</p>', html)]


def text_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def held_n_times(guild: GuildId, n: int) -> None:
    for number in range(n):
        hold_guild(guild, reason=f"for the {number}.", caller=caller())
        release_guild(guild, caller=caller("Björk"))


def test_the_newest_stand_first_beside_the_queue_and_on_a_page_of_their_own(
    ada: Client, guild: GuildId
) -> None:
    first, second = stored_session(guild, title="Stand-up"), stored_session(guild, title="Retro")
    move_session(
        second, guild_id=guild, place=Place.BEFORE, neighbour=first, caller=caller("Björk")
    )
    hold_session(first, guild_id=guild, reason="wait for consent", caller=caller())
    bump_session(second, guild_id=guild, asker=operator(source=None), reason="at noon")

    page, panel = text_of(ada, HISTORY), text_of(ada, f"/guilds/{guild}/")

    assert sentences(page)[1:] == ["ada held Stand-up", "Björk moved Retro before Stand-up"]
    assert sentences(page)[0].endswith(" let Retro run next")
    assert sentences(panel) == sentences(page)
    assert "from 2 to 1 of 2" in page
    assert "“<bdi>wait for consent</bdi>”" in page
    assert "data-ago" in page.partition('class="told"')[2]


def test_the_queue_shows_a_few_and_leads_to_the_rest(ada: Client, guild: GuildId) -> None:
    held_n_times(guild, 5)

    assert len(sentences(text_of(ada, f"/guilds/{guild}/"))) == 6
    assert f'href="{HISTORY}"' in text_of(ada, f"/guilds/{guild}/")
    assert len(sentences(text_of(ada, HISTORY))) == 10


@pytest.mark.usefixtures("two_a_page")
def test_older_records_follow_page_by_page_and_only_the_newest_is_live(
    ada: Client, guild: GuildId
) -> None:
    held_n_times(guild, 2)

    def pages() -> Iterator[str]:
        path: str | None = HISTORY
        while path:
            html = text_of(ada, path)
            yield html
            found = re.search(r'id="page-older"[^>]*href="([^"]+)"', html)
            path = HISTORY + found[1].removeprefix(HISTORY) if found else None

    newest, older, last = pages()

    assert sentences(newest) == sentences(older)
    assert "for the 1." in newest
    assert "for the 0." in older
    assert "Nothing older is on record." in last
    assert "hx-sse:connect" in newest
    assert 'id="live"' in newest
    for behind in (older, last):
        assert "hx-sse:connect" not in behind
        assert 'id="page-newest"' in behind


@pytest.mark.parametrize("before", ["x", "-1", str(BIGINT_MAX + 1), ""])
def test_a_page_behind_what_is_no_record_is_a_400(ada: Client, before: str) -> None:
    response = ada.get(f"{HISTORY}?before={before}")

    assert response.status_code == 400
    assert "before" in response.content.decode()


def test_a_history_without_anything_says_what_will_stand_there(ada: Client, guild: GuildId) -> None:
    assert "Nobody has changed anything yet." in text_of(ada, HISTORY)
    assert "Nobody has changed anything yet." in text_of(ada, f"/guilds/{guild}/")


def test_another_guilds_history_is_none_of_theirs(ada: Client, guild: GuildId) -> None:
    magpie = builders.stored_guild(MAGPIE, name="Magpie")
    hold_guild(magpie, reason="a secret", caller=caller())

    assert ada.get(f"/guilds/{magpie}/history").status_code == 404
    assert Client().get(HISTORY).status_code == 302
    assert "a secret" not in text_of(ada, HISTORY)
    assert ada.post(HISTORY).status_code == 405


def test_what_a_stranger_sent_is_marked_and_stands_in_no_sentence(
    ada: Client, guild: GuildId
) -> None:
    session = stored_session(guild, title="Retro")
    mallory = Asker(uid=54321, principal=Principal(PrincipalKind.ACCOUNT, "mallory"))
    bump_session(session, guild_id=guild, asker=mallory, reason=f"trust me {HOSTILE}")

    for html in (text_of(ada, HISTORY), text_of(ada, f"/guilds/{guild}/")):
        [event] = re.findall(r'<li class="event".*?</li>', html, re.DOTALL)
        shown, _, unchecked = event.partition('class="unchecked"')
        assert sentences(event) == ["Account mallory asked to change what runs next refused"]
        assert "without the right to ask" in shown
        assert "trust me" not in shown
        assert "What was sent, unchecked:" in unchecked
        assert f"meeting {session} · “trust me &lt;script&gt;" in unchecked


def test_it_is_told_in_the_readers_language(ada: Client, guild: GuildId) -> None:
    hold_guild(guild, reason="", caller=caller())

    with translation.override("en"):  # what the request sets in this thread ends with it
        html = ada.get(HISTORY, headers={"accept-language": "de"}).content.decode()

    assert sentences(html) == ["ada hat die ganze Gilde angehalten"]
