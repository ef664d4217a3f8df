"""The pages with all that scripts add, for people who see, point and read in other ways."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests import builders
from tests.browser.live import Viewer
from tests.browser.test_page_accessibility import SMALL_TARGETS, WIDER_THAN_THE_SCREEN, faults
from tests.catalogue import said
from tests.web.pages import page_paths, stored_meetings

QUEUE = f"/guilds/{builders.STARLING}/"
Viewers = Callable[..., Viewer]
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced-colors": {"forced_colors": "active", "viewport": {"width": 320, "height": 640}},
}


@pytest.fixture
def paths(committed_db: None) -> dict[str, str]:
    guild = builders.stored_guild()
    builders.stored_user("ada", guilds=[guild])
    return page_paths(guild, stored_meetings(guild), asked_of=("waiting",))


@pytest.fixture(params=LOOKS)
def viewer(request: pytest.FixtureRequest, paths: dict[str, str], viewer_of: Viewers) -> Viewer:
    return viewer_of(User.objects.get(username="ada"), **LOOKS[request.param])


def test_axe_finds_no_fault_on_any_live_page(viewer: Viewer, paths: dict[str, str]) -> None:
    found = {}
    for name in ("guilds", "queue", "waiting", "running", "done", "dead"):
        found[name] = faults(viewer.open(paths[name]))

    assert {name: lines for name, lines in found.items() if lines} == {}


def test_axe_finds_no_fault_in_what_scripts_show(
    two: None, viewer: Viewer, paths: dict[str, str]
) -> None:
    page = viewer.open(paths["queue"])
    found = {}
    move_first(page)
    expect(viewer.status).to_contain_text("moved from")
    found["toast"] = faults(page)
    page.locator("#rule-short-recordings-first").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    found["dialog"] = faults(page)
    page.keyboard.press("Escape")
    page.locator("#pause").click()
    found["paused"] = faults(page)

    assert found == {"toast": [], "dialog": [], "paused": []}
    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []


def move_first(page: Page) -> None:
    """The last that waits, by its menu."""
    menu = page.locator("#line .row[data-movable] .menu").last
    menu.locator("summary").click()
    menu.locator("button[id^=first]").click()


@pytest.fixture
def two(paths: dict[str, str]) -> None:
    """Enough meetings for one to move past another."""
    for title in ("Stand-up", "Retrospective"):
        builders.stored_session(builders.STARLING, title=title)


def test_a_finger_finds_targets_of_44_pixels_in_what_scripts_show(
    paths: dict[str, str], two: None, viewer_of: Viewers
) -> None:
    phone = {"viewport": {"width": 320, "height": 740}, "has_touch": True, "is_mobile": True}
    viewer = viewer_of(User.objects.get(username="ada"), **phone)
    page = viewer.open(paths["queue"])

    move_first(page)
    expect(viewer.status).to_contain_text("moved from")

    assert page.evaluate(SMALL_TARGETS, 44) == []
    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []
    page.locator("#guild-hold").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(SMALL_TARGETS, 44) == []
    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []


def test_text_of_twice_the_size_fits_with_all_that_scripts_show(
    paths: dict[str, str], two: None, viewer_of: Viewers
) -> None:
    viewer = viewer_of(User.objects.get(username="ada"), viewport={"width": 1024, "height": 768})
    page = viewer.open(paths["queue"])
    page.evaluate("() => { document.documentElement.style.fontSize = '32px' }")

    move_first(page)
    expect(viewer.status).to_contain_text("moved from")

    assert page.evaluate(WIDER_THAN_THE_SCREEN) == []


def test_no_page_says_anything_in_english_to_a_german(
    paths: dict[str, str], two: None, viewer_of: Viewers
) -> None:
    viewer = viewer_of(User.objects.get(username="ada"), locale="de-DE")
    english = {m.text for m in said() if " " in m.text and "%(" not in m.text and "{" not in m.text}
    found = {}
    for name, path in paths.items():
        page = viewer.open(path, is_live=False)
        text = page.evaluate("() => document.documentElement.innerHTML")
        found[name] = sorted(
            words for words in english if re.search(rf"\b{re.escape(words)}", text)
        )

    assert len(english) > 50
    assert {name: words for name, words in found.items() if words} == {}
