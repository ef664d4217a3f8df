"""The live page in a hand: what has little room to stand in."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from guildqueue.domain.ids import SessionId
from tests import builders
from tests.browser.live import Viewer, box
from tests.browser.test_page_accessibility import WIDER_THAN_THE_SCREEN

QUEUE = f"/guilds/{builders.STARLING}/"
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
PAUSE = {"en-GB": "Pause", "de-DE": "Pausieren"}
RESUME = {"en-GB": "Resume", "de-DE": "Fortsetzen"}


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    guild = builders.stored_guild(name="The guild of starlings that have a long name")
    return [builders.stored_session(guild, title=f"meeting {n}") for n in range(12)]


@pytest.fixture(params=PAUSE)
def phone(request: pytest.FixtureRequest, ids: list[SessionId], viewer_of: Any) -> Viewer:
    user = builders.stored_user("a-person-of-a-long-name", guilds=[builders.STARLING])
    made: Viewer = viewer_of(user, locale=request.param, **PHONE)
    made.open(QUEUE, is_live=False)
    expect(made.page.locator("#live")).to_have_attribute("data-state", "live")
    return made


def test_the_bar_is_one_line_with_all_that_it_has(phone: Viewer) -> None:
    page = phone.page
    parts = [box(page.locator(part)) for part in ("#brand", "#guild", "#pause", "#account-button")]

    middles = [part["y"] + part["height"] / 2 for part in parts]
    assert max(middles) - min(middles) < 2
    assert box(page.locator(".top"))["height"] < 70
    assert parts[1]["width"] > 60
    expect(page.locator("#live-text")).to_be_visible()
    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []


def test_pause_is_a_sign_for_the_eye_and_a_word_for_the_ear(phone: Viewer) -> None:
    page = phone.page
    language = str(page.evaluate("() => navigator.language"))
    button = page.get_by_role("button", name=PAUSE[language], exact=True)
    before = box(button)
    assert before["width"] == before["height"] == 44

    button.tap()

    expect(page.locator("#live-text")).to_be_visible()
    expect(page.get_by_role("button", name=RESUME[language], exact=True)).to_be_visible()
    assert box(page.locator("#pause"))["y"] == before["y"]


def test_a_status_never_covers_a_menu_that_is_open(
    ids: list[SessionId], viewer_of: Callable[..., Viewer]
) -> None:
    ada = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]), **PHONE)
    page = ada.open(QUEUE)
    page.locator(f"#move-{ids[0]}").tap()
    page.locator(f"#down-{ids[0]}").tap()
    expect(ada.status).to_contain_text("moved from 1 to 2")

    row = page.locator(f"#move-{ids[-1]}")
    row.scroll_into_view_if_needed()
    row.tap()

    expect(page.locator(".toasts")).to_have_css("opacity", "0")
    page.locator(f"#first-{ids[-1]}").tap()
    expect(ada.status).to_contain_text("moved from 12 to 1")
    expect(page.locator(".toasts")).to_have_css("opacity", "1")
