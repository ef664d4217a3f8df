"""Run next, Take back and the history, in browsers that look at the same guild."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.services.bump import bump_session
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from tests.browser.conftest import Visit
from tests.browser.live import Viewer, expect_line, focused
from tests.browser.test_page_accessibility import (
    CRAMPED,
    SMALL_TARGETS,
    WIDER_THAN_THE_SCREEN,
    faults_in_both_themes,
)
from tests.browser.test_phone import PHONE
from tests.builders import STARLING, caller, stored_session, stored_user
from tests.db.lane_requests import operator, rooted_guild

QUEUE = f"/guilds/{STARLING}/"
HISTORY = f"/guilds/{STARLING}/history"
Make = Callable[..., Viewer]


@pytest.fixture
def guild(committed_db: None, tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path, sources=("console",))


@pytest.fixture
def ids(guild: GuildId) -> list[SessionId]:
    return [stored_session(guild, title=title) for title in ("Stand-up", "Voice memo", "Retro")]


@pytest.fixture
def ada(guild: GuildId, viewer_of: Make) -> Viewer:
    return viewer_of(stored_user("ada", guilds=[guild]))


@pytest.fixture
def bjork(guild: GuildId, viewer_of: Make) -> Viewer:
    return viewer_of(stored_user("Björk", guilds=[guild]))


def lane_of(page: Page) -> list[str]:
    return page.locator("#lane .row .t").all_inner_texts()


def run_next(page: Page, session_id: SessionId, *, reason: str = "") -> None:
    """By the row's menu and the dialog that it opens."""
    page.locator(f"#move-{session_id}").click()
    page.locator(f"#bump-{session_id}").click()
    page.get_by_label("Reason").fill(reason)
    page.get_by_role("button", name="Run next").click()


def test_one_says_what_runs_next_and_the_other_sees_it_happen(
    ids: list[SessionId], ada: Viewer, bjork: Viewer
) -> None:
    page, other = ada.open(QUEUE), bjork.open(QUEUE)

    run_next(page, ids[2], reason="the board meets at noon")

    expect(ada.status).to_have_text("Retro runs next.")
    expect(other.locator("#lane .row .t")).to_have_text(["Retro"])
    expect(other.locator("#lane-title + small")).to_have_text("placed by ada, from the console")
    said = other.locator("#newest .event").first
    expect(said.locator(".told")).to_have_text("ada let Retro run next")
    expect(said).to_contain_text("from the console")
    expect(other.locator(f"#s-{ids[2]}")).to_have_attribute("data-changed", "")
    expect_line(other, "Stand-up", "Voice memo")
    assert page.url == f"{ada.site}{QUEUE}"
    assert focused(page) == f"more-{ids[2]}"


def test_it_is_taken_back_before_everybodys_eyes(
    guild: GuildId, ids: list[SessionId], ada: Viewer, bjork: Viewer
) -> None:
    bump_session(ids[1], guild_id=guild, asker=operator())
    page, other = ada.open(QUEUE), bjork.open(QUEUE)

    page.locator(f"#more-{ids[1]}").click()
    page.locator(f"#unbump-{ids[1]}").click()
    page.get_by_role("button", name="Take back").click()

    expect(ada.status).to_have_text("Voice memo no longer runs next.")
    expect(other.locator("#lane")).to_have_count(0)
    expect_line(other, "Stand-up", "Voice memo", "Retro")
    expect(other.locator("#newest .told").first).to_have_text(
        "ada took Voice memo back from what runs next"
    )


def test_an_open_history_follows_along(
    guild: GuildId, ids: list[SessionId], ada: Viewer, bjork: Viewer
) -> None:
    page, other = ada.open(QUEUE), bjork.open(HISTORY)
    expect(other.get_by_text("Nobody has changed anything yet.")).to_be_visible()

    page.locator(f"#move-{ids[2]}").click()
    page.locator(f"#up-{ids[2]}").click()

    said = other.locator("#events .event")
    expect(said.locator(".told")).to_have_text(["ada moved Retro before Voice memo"])
    expect(said).to_contain_text("just now")
    expect(said).to_contain_text("from 3 to 2 of 3")
    mallory = Asker(uid=54321, principal=Principal(PrincipalKind.ACCOUNT, "mallory"))
    bump_session(ids[0], guild_id=guild, asker=mallory, reason="trust me")
    expect(said).to_have_count(2)
    expect(said.first.locator(".tag")).to_have_text("refused")
    expect(said.first.locator(".unchecked")).to_contain_text("trust me")


def test_a_grant_that_goes_takes_the_buttons_from_open_pages(
    ids: list[SessionId], ada: Viewer, tmp_path: Path
) -> None:
    page = ada.open(QUEUE)
    expect(page.locator(f"#bump-{ids[0]}")).to_have_count(1)

    (tmp_path / "queue.toml").unlink()

    expect(page.locator(f"#bump-{ids[0]}")).to_have_count(0)
    rooted_guild(tmp_path, sources=("console",))
    expect(page.locator(f"#bump-{ids[0]}")).to_have_count(1)


def test_a_refusal_is_said_over_the_list_as_it_is(
    ids: list[SessionId], ada: Viewer, tmp_path: Path
) -> None:
    page = ada.open(QUEUE)
    page.locator(f"#move-{ids[0]}").click()
    page.locator(f"#bump-{ids[0]}").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    rooted_guild(tmp_path)

    page.get_by_role("button", name="Run next").click()

    expect(ada.status).to_contain_text("this guild does not let the console say what runs next")
    expect_line(page, "Stand-up", "Voice memo", "Retro")


def test_without_scripts_all_of_it_is_forms_and_links(
    visit: Visit, guild: GuildId, ids: list[SessionId]
) -> None:
    stored_user("ada", guilds=[guild])
    visit.sign_in("ada")
    page = visit.open(QUEUE)
    status = page.get_by_role("status")

    page.locator(f"#move-{ids[2]}").click()
    page.get_by_role("link", name="Run next… Retro").click()
    page.get_by_label("Reason").fill("the board meets at noon")
    page.get_by_role("button", name="Run next").click()
    expect(status).to_have_text("Retro runs next.")
    assert lane_of(page) == ["Retro"]

    page.get_by_role("link", name="History", exact=True).click()
    expect(page.locator(".told")).to_have_text(["ada let Retro run next"])
    expect(page.get_by_text("“the board meets at noon”")).to_be_visible()

    page.get_by_role("link", name="Queue", exact=True).click()
    page.get_by_role("link", name="Retro", exact=True).click()
    page.get_by_role("link", name="Take back…").click()
    page.get_by_role("button", name="Take back").click()
    expect(status).to_have_text("Retro no longer runs next.")


def test_without_the_declaration_there_is_a_lane_and_no_button(
    visit: Visit, guild: GuildId, ids: list[SessionId], tmp_path: Path
) -> None:
    bump_session(ids[0], guild_id=guild, asker=operator())
    rooted_guild(tmp_path)
    stored_user("ada", guilds=[guild])
    visit.sign_in("ada")
    page = visit.open(QUEUE)

    assert lane_of(page) == ["Stand-up"]
    expect(page.get_by_text("Run next…")).to_have_count(0)
    page.locator(f"#more-{ids[0]}").click()
    expect(page.get_by_text("Take back…")).to_have_count(0)
    expect(page.get_by_role("link", name="Hold… Stand-up")).to_be_visible()


def busy(guild: GuildId, ids: list[SessionId]) -> None:
    """Some of everything in the lane and in the history."""
    ada = Principal(PrincipalKind.USER, "ada")
    asker = Asker(uid=operator().uid, principal=ada, source="console", on_behalf_of=str(ada))
    mallory = Asker(uid=54321, principal=Principal(PrincipalKind.ACCOUNT, "m" * 90))
    bump_session(ids[0], guild_id=guild, asker=asker, reason="needed before the vote")
    bump_session(ids[1], guild_id=guild, asker=operator(), reason="w" * 300)
    bump_session(ids[1], guild_id=guild, asker=mallory, reason="w" * 300)
    moved = stored_session(guild, title="w" * 300)
    move_session(moved, guild_id=guild, place=Place.FIRST, caller=caller("Björk"))
    hold_session(ids[2], guild_id=guild, reason="wait for consent", caller=caller())


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_lane_dialog_and_history_are_for_everybody(
    guild: GuildId, ids: list[SessionId], viewer_of: Make, locale: str
) -> None:
    busy(guild, ids)
    wide = viewer_of(stored_user("a" * 150, guilds=[guild]), locale=locale)
    page = wide.open(QUEUE, is_live=False)
    found = {"queue": faults_in_both_themes(page)}
    page.locator(f"#more-{ids[0]}").click()
    page.locator(f"#unbump-{ids[0]}").click()
    expect(page.locator("#ask")).to_be_visible()
    found["dialog"] = faults_in_both_themes(page)
    page = wide.open(HISTORY, is_live=False)
    expect(page.locator(".event")).to_have_count(5)
    found["history"] = faults_in_both_themes(page)

    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("path", [QUEUE, HISTORY])
def test_it_fits_a_phone_and_a_finger(
    guild: GuildId, ids: list[SessionId], viewer_of: Make, path: str
) -> None:
    busy(guild, ids)
    phone = viewer_of(stored_user("ada", guilds=[guild]), **PHONE)
    page = phone.open(path, is_live=False)

    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []
    assert page.evaluate(CRAMPED) == []
    assert page.evaluate(SMALL_TARGETS, 44) == []
    assert page.locator(".tabs a").evaluate_all("all => all.map(e => e.offsetHeight >= 44)") == [
        True,
        True,
    ]
