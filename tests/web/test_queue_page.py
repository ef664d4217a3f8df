"""The queue page: what it shows, and that plain forms change the order."""

import re

import pytest
from django.test import Client

from guildqueue.domain.errors import QueueBusy
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.hold import hold_guild, hold_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests import builders
from tests.builders import STARLING

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild(running_cap=4)


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


def titles(guild_id: GuildId) -> list[str]:
    return [entry.title for entry in queue_snapshot(guild_id).sessions]


def queue_html(client: Client) -> str:
    response = client.get(f"/guilds/{STARLING}/")
    assert response.status_code == 200
    return response.content.decode()


def row_html(html: str, session_id: SessionId) -> str:
    found = re.search(rf'<li class="row" id="s-{session_id}".*?</li>', html, re.DOTALL)
    assert found is not None
    return found.group()


def section_titles(html: str, section: str) -> list[str]:
    found = re.search(rf'<section id="{section}".*?</section>', html, re.DOTALL)
    if found is None:
        return []
    return re.findall(r'<a id="title-\d+"[^>]*><bdi>(.*?)</bdi>', found.group())


def move(client: Client, session_id: SessionId, to: str, **more: str) -> str:
    """The page that a move leads to."""
    response = client.post(f"/sessions/{session_id}/move", {"to": to, **more})
    assert response.status_code == 303
    return client.get(response["Location"].partition("#")[0]).content.decode()


def test_sessions_stand_in_the_section_of_what_happens_to_them(ada: Client, guild: GuildId) -> None:
    running = builders.stored_session(guild, title="Raid planning", n_tracks=2)
    builders.stored_session(guild, title="Retrospective")
    builders.done_session(guild, title="Assembly")
    builders.dead_session(guild, title="Broken one")
    builders.cancelled_session(guild, title="Wrong channel")
    builders.running_jobs(running)

    html = queue_html(ada)

    assert section_titles(html, "running") == ["Raid planning"]
    assert "Retrospective" in section_titles(html, "waiting")
    assert "Assembly" in section_titles(html, "finished")
    assert "Wrong channel" in section_titles(html, "finished")


def test_the_page_shows_claim_order_and_the_place_in_line(ada: Client, guild: GuildId) -> None:
    first = builders.stored_session(guild, title="Stand-up")
    second = builders.stored_session(guild, title="Retrospective")
    move_session(second, guild_id=guild, place=Place.FIRST, caller=builders.caller("Björk"))

    html = queue_html(ada)

    assert section_titles(html, "waiting") == ["Retrospective", "Stand-up"]
    assert '<span class="vh">place </span>1' in row_html(html, second)
    assert '<span class="vh">place </span>2' in row_html(html, first)
    assert "moved first by <bdi>Björk</bdi>" in row_html(html, second)


def test_the_figures_say_running_waiting_and_the_audio_ahead(ada: Client, guild: GuildId) -> None:
    builders.stored_session(guild, n_tracks=2, audio_seconds=[3600.0, None])

    html = queue_html(ada)

    figures = re.sub(r"\s+", " ", html[html.index('<dl class="figures">') :])
    assert "<dt>running</dt><dd>0 of 4</dd>" in figures
    assert "<dt>tracks waiting</dt><dd>2</dd>" in figures
    assert "of audio ahead + 1 not measured</dt> <dd>1 h</dd>" in figures


@pytest.mark.parametrize(
    ("to", "order", "said"),
    [
        ("first", ["c", "a", "b", "d"], "c moved from 3 to 1 of 4."),
        ("last", ["a", "b", "d", "c"], "c moved from 3 to 4 of 4."),
        ("before {b}", ["a", "c", "b", "d"], "c moved from 3 to 2 of 4."),
        ("after {d}", ["a", "b", "d", "c"], "c moved from 3 to 4 of 4."),
        ("after {b}", ["a", "b", "c", "d"], "Nothing to do: c is there already."),
    ],
)
def test_a_plain_form_moves_a_session_and_says_from_where_to_where(
    ada: Client, guild: GuildId, to: str, order: list[str], said: str
) -> None:
    ids = {title: builders.stored_session(guild, title=title) for title in "abcd"}

    html = move(ada, ids["c"], to.format(**ids))

    assert titles(guild) == order
    assert said in html


def test_every_move_of_the_menu_goes_where_its_button_says(ada: Client, guild: GuildId) -> None:
    ids = {title: builders.stored_session(guild, title=title) for title in "abc"}
    row = row_html(queue_html(ada), ids["b"])

    def value(name: str) -> str:
        found = re.search(rf'id="{name}-\d+"[^>]* value="([^"]*)"', row)
        assert found is not None
        return found.group(1)

    assert f'formaction="/sessions/{ids["b"]}/move"' in row
    assert [value(name) for name in ("first", "up", "down", "last")] == [
        "first",
        f"before {ids['a']}",
        f"after {ids['c']}",
        "last",
    ]


def test_a_session_that_left_meanwhile_is_a_409_with_the_fresh_list(
    ada: Client, guild: GuildId
) -> None:
    gone = builders.cancelled_session(guild, title="Retrospective")
    builders.stored_session(guild, title="Stand-up")

    response = ada.post(f"/sessions/{gone}/move", {"to": "first"})

    html = response.content.decode()
    assert response.status_code == 409
    said = "Not moved: Retrospective has left the queue. The list is up to date."
    assert said in html
    assert section_titles(html, "waiting") == ["Stand-up"]


def test_a_neighbour_of_another_guild_is_a_409(ada: Client, guild: GuildId) -> None:
    mine = builders.stored_session(guild)
    theirs = builders.stored_session(builders.stored_guild(builders.MAGPIE, name="Magpie"))

    response = ada.post(f"/sessions/{mine}/move", {"to": f"after {theirs}"})

    assert response.status_code == 409
    assert "the session to move it next to has left the queue" in response.content.decode()


@pytest.mark.parametrize(
    "to", ["", "sideways", "before", "before x", "after 9223372036854775808", "first 1", "after ٣"]
)
def test_a_place_that_can_never_be_right_is_a_400(ada: Client, guild: GuildId, to: str) -> None:
    session_id = builders.stored_session(guild)
    before = queue_snapshot(guild).sessions

    response = ada.post(f"/sessions/{session_id}/move", {"to": to})

    assert response.status_code == 400
    assert "Nothing was changed" in response.content.decode()
    assert queue_snapshot(guild).sessions == before


def test_move_after_offers_the_others_of_a_short_list(ada: Client, guild: GuildId) -> None:
    ids = {title: builders.stored_session(guild, title=title) for title in "abc"}

    html = ada.get(f"/sessions/{ids['a']}/move").content.decode()

    assert re.findall(r'<option value="([^"]*)">([^<]*)', html) == [
        (f"after {ids['b']}", "2. b"),
        (f"after {ids['c']}", "3. c"),
    ]


def test_move_after_a_number_in_line_puts_it_behind_who_stands_there(
    ada: Client, guild: GuildId
) -> None:
    ids = {title: builders.stored_session(guild, title=title) for title in "abcd"}

    html = move(ada, ids["a"], "", number="3")

    assert titles(guild) == ["b", "c", "a", "d"]
    assert "a moved from 1 to 3 of 4." in html


@pytest.mark.parametrize("number", ["0", "-1", "5", "x", "1.5", "99999999999999999999", "٣"])
def test_a_number_that_nobody_has_in_line_is_a_400(
    ada: Client, guild: GuildId, number: str
) -> None:
    session_id = builders.stored_session(guild)
    builders.stored_session(guild)

    response = ada.post(f"/sessions/{session_id}/move", {"number": number})

    assert response.status_code == 400


def test_a_held_session_says_who_holds_it_and_why(ada: Client, guild: GuildId) -> None:
    session_id = builders.stored_session(guild)
    reason = "wait for <b>consent</b>"
    hold_session(session_id, guild_id=guild, reason=reason, caller=builders.caller("Björk"))

    row = row_html(queue_html(ada), session_id)

    assert "held by <bdi>Björk</bdi>: “<bdi>wait for &lt;b&gt;consent&lt;/b&gt;</bdi>”" in row
    assert f'href="/sessions/{session_id}/release"' in row


def test_the_whole_guild_is_held_and_released_from_the_page(ada: Client, guild: GuildId) -> None:
    asked = ada.get(f"/guilds/{guild}/hold").content.decode()
    held = ada.post(f"/guilds/{guild}/hold", {"reason": "budget talks"}, follow=True)
    unasked = ada.get(f"/guilds/{guild}/release").content.decode()
    released = ada.post(f"/guilds/{guild}/release", follow=True)

    assert "Hold the whole guild?" in asked
    assert "“<bdi>budget talks</bdi>”" in held.content.decode()
    assert "Starling Guild is held." in held.content.decode()
    assert "Release the whole guild?" in unasked
    assert "0 waiting jobs may start again" in unasked
    assert "Starling Guild is released." in released.content.decode()
    assert not queue_snapshot(guild).held


def test_a_repeated_hold_says_that_nothing_was_to_do(ada: Client, guild: GuildId) -> None:
    hold_guild(guild, reason="first", caller=builders.caller("Björk"))

    response = ada.post(f"/guilds/{guild}/hold", {"reason": "second"}, follow=True)

    html = response.content.decode()
    assert "Nothing to do: Starling Guild is held already." in html
    assert "“<bdi>first</bdi>”" in html


def test_htmx_gets_the_inside_of_the_live_region_alone(ada: Client, guild: GuildId) -> None:
    builders.stored_session(guild)

    response = ada.get(f"/guilds/{guild}/", headers={"HX-Request": "true"})

    html = response.content.decode()
    assert "<html" not in html
    assert "csrfmiddlewaretoken" not in html
    assert "HX-Request" in response["Vary"]
    assert "no-store" in response["Cache-Control"]


def test_a_queue_of_more_than_a_page_leads_on_and_back(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.SESSIONS_A_PAGE", 2)
    ids = [builders.stored_session(guild, title=title) for title in "abcde"]

    first = queue_html(ada)
    second = ada.get(f"/guilds/{guild}/?after={ids[1]}").content.decode()

    assert section_titles(first, "waiting") == ["a", "b"]
    assert f'href="/guilds/{guild}/?after={ids[1]}">3 more sessions</a>' in first
    assert section_titles(second, "waiting") == ["c", "d"]
    assert "Back to the front" in second
    assert f'value="before {ids[1]}"' in row_html(second, ids[2])
    assert f'id="down-{ids[3]}"' not in second


def test_a_move_from_a_later_page_leads_back_to_that_page(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.SESSIONS_A_PAGE", 2)
    ids = [builders.stored_session(guild, title=title) for title in "abcd"]
    page = f"/guilds/{guild}/?after={ids[1]}"
    assert f'<input type="hidden" name="after" value="{ids[1]}">' in ada.get(page).content.decode()

    form = {"to": "last", "after": str(ids[1])}
    response = ada.post(f"/sessions/{ids[2]}/move", form)

    assert response["Location"] == f"{page}#s-{ids[2]}"
    assert titles(guild) == ["a", "b"]
    assert section_titles(ada.get(page).content.decode(), "waiting") == ["d", "c"]


def test_a_refused_move_shows_a_page_whose_links_still_lead_on(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.SESSIONS_A_PAGE", 1)
    gone = builders.cancelled_session(guild)
    first = builders.stored_session(guild)
    builders.stored_session(guild)

    html = ada.post(f"/sessions/{gone}/move", {"to": "first"}).content.decode()

    assert f'href="/guilds/{guild}/?after={first}"' in html


@pytest.mark.parametrize("path", ["/guilds/{guild}/release", "/sessions/{session}/release"])
def test_a_release_is_asked_first_and_says_where_there_is_nothing_to_release(
    ada: Client, guild: GuildId, path: str
) -> None:
    address = path.format(guild=guild, session=builders.stored_session(guild))

    before = ada.get(address).content.decode()
    hold_guild(guild, reason="", caller=builders.caller())
    hold_session(SessionId(1), guild_id=guild, reason="", caller=builders.caller())
    asked = ada.get(address).content.decode()

    assert "nothing to release" in before
    assert 'id="confirm"' not in before
    assert "may start again" in asked
    assert 'id="confirm"' in asked
    assert queue_snapshot(guild).held


@pytest.mark.parametrize("verb", ["hold", "release", "rules/short-recordings-first"])
def test_a_busy_queue_refuses_what_concerns_the_whole_guild(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def busy(*given: object, **named: object) -> None:
        raise QueueBusy

    for name in ("guilds.hold_guild", "guilds.release_guild", "rules.apply_rule"):
        monkeypatch.setattr(f"console.views.{name}", busy)

    response = ada.post(f"/guilds/{guild}/{verb}")

    assert response.status_code == 409
    assert "others changed the queue at the same moment" in response.content.decode()


def test_a_page_behind_a_session_that_left_leads_to_the_front(ada: Client, guild: GuildId) -> None:
    gone = builders.cancelled_session(guild)

    response = ada.get(f"/guilds/{guild}/?after={gone}", follow=True)

    assert response.redirect_chain == [(f"/guilds/{guild}/", 303)]
    assert "The queue changed meanwhile" in response.content.decode()


@pytest.mark.parametrize("after", ["x", "-1", "9" * 30, "\0"])
def test_a_page_behind_no_id_at_all_is_a_400(ada: Client, guild: GuildId, after: str) -> None:
    assert ada.get(f"/guilds/{guild}/", {"after": after}).status_code == 400
