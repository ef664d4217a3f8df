"""Every page, in both themes, for people who see, point and read in other ways."""

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from guildqueue.domain.ids import GuildId
from tests import builders
from tests.browser.conftest import Visit, axe_source
from tests.web.pages import page_paths, stored_meetings

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LONG_NAME = "a" * 150
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RUN_AXE = "(tags) => axe.run(document, {runOnly: tags})"
WIDER_THAN_THE_SCREEN = """() => [...document.querySelectorAll('body *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.skip, .vh'))
  .map(e => e.tagName + '.' + e.className + '#' + e.id)"""
CRAMPED = """() => [...document.querySelectorAll('.row, .track, .panel, .list, td, th')]
  .filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => e.className + '#' + e.id)"""
SMALL_TARGETS = """(least) => [
  ...document.querySelectorAll('button, .button, summary, input, select')
].filter(e => e.checkVisibility() && e.type !== 'hidden')
  .map(e => [e.id || e.outerHTML, e.getBoundingClientRect().height])
  .filter(([, height]) => height < least)"""


@pytest.fixture
def paths(committed_db: None) -> dict[str, str]:
    """The addresses of pages that show one meeting in every state."""
    guild: GuildId = builders.stored_guild(name="A guild of " + "starlings and " * 12)
    builders.stored_user(LONG_NAME, guilds=[guild])
    return page_paths(guild, stored_meetings(guild), asked_of=("waiting", "done"))


@pytest.fixture
def contexts(browser: Browser) -> Iterator[Any]:
    """Makes browser contexts that end with the test."""
    made: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        made.append(browser.new_context(**options))
        return made[-1]

    yield make
    for context in made:
        context.close()


# Colours in mid-animation are nobody's to read.
SETTLED = """() => Promise.allSettled(
  document.getAnimations()
    .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
    .map((one) => one.finished))"""


def faults(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is, one line a fault."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe_source())
    page.evaluate(SETTLED)
    found = page.evaluate(RUN_AXE, RULES)
    return [
        f"{fault['id']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


def faults_in_both_themes(page: Page) -> list[str]:
    """What axe finds in the light and in the dark, on a page that is loaded once."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {fault}" for fault in faults(page)]
    return found


def test_axe_finds_no_fault_on_any_page_in_either_theme(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    visit = Visit(contexts(), site)
    found = {"sign-in": faults_in_both_themes(visit.open("/accounts/login/"))}
    visit.sign_in(LONG_NAME)
    for name, path in paths.items():
        found[name] = faults_in_both_themes(visit.open(path))

    assert {name: lines for name, lines in found.items() if lines} == {}
    assert visit.complaints == []


def test_axe_finds_faults_that_are_there(contexts: Any, site: str, paths: dict[str, str]) -> None:
    page = Visit(contexts(), site).open("/accounts/login/")
    assert faults_in_both_themes(page) == []

    page.evaluate("() => document.querySelectorAll('label').forEach(label => label.remove())")
    page.evaluate("() => document.documentElement.style.setProperty('--ink', '#888888')")

    found = faults_in_both_themes(page)
    for scheme in SCHEMES:
        assert any(fault.startswith(f"{scheme}: label:") for fault in found)
    assert any(fault.startswith("light: color-contrast:") for fault in found)


def test_axe_finds_no_fault_in_an_open_menu(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    visit = Visit(contexts(), site)
    visit.sign_in(LONG_NAME)
    page = visit.open(paths["queue"])

    page.locator("#waiting summary").first.click()

    assert faults_in_both_themes(page) == []


def test_no_page_scrolls_sideways_at_320_pixels(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    visit = Visit(contexts(viewport={"width": 320, "height": 640}), site)
    visit.sign_in(LONG_NAME)

    wide = {n: visit.open(path).evaluate(WIDER_THAN_THE_SCREEN) for n, path in paths.items()}

    assert {name: elements for name, elements in wide.items() if elements} == {}


def test_text_of_twice_the_size_still_fits(contexts: Any, site: str, paths: dict[str, str]) -> None:
    visit = Visit(contexts(viewport={"width": 1024, "height": 768}), site)
    visit.sign_in(LONG_NAME)
    wide = {}
    for name, path in paths.items():
        page = visit.open(path)
        page.evaluate("() => { document.documentElement.style.fontSize = '32px' }")
        wide[name] = page.evaluate(WIDER_THAN_THE_SCREEN) + page.evaluate(CRAMPED)

    assert {name: elements for name, elements in wide.items() if elements} == {}


def test_a_finger_finds_targets_of_44_pixels(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    phone = contexts(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit = Visit(phone, site)
    visit.sign_in(LONG_NAME)

    for name in ("guilds", "queue", "waiting", "waiting-hold", "rule-length"):
        page = visit.open(paths[name])
        assert page.evaluate(SMALL_TARGETS, 44) == [], name


def test_states_are_told_apart_without_colours(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    visit = Visit(contexts(forced_colors="active"), site)
    visit.sign_in(LONG_NAME)
    page = visit.open(paths["queue"])

    drawn = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.tracks i')].map(bar => {
          const style = getComputedStyle(bar);
          return [bar.dataset.s, style.backgroundImage + style.borderStyle];
        }))"""
    )
    words = page.locator(".tracks").evaluate_all("all => all.map(e => e.ariaLabel)")

    assert set(drawn) >= {"pending", "running", "done", "dead", "cancelled"}
    assert len(set(drawn.values())) == len(drawn)
    assert all(words)


def test_motion_stops_for_those_who_ask(contexts: Any, site: str, paths: dict[str, str]) -> None:
    visit = Visit(contexts(reduced_motion="reduce"), site)
    visit.sign_in(LONG_NAME)

    page = visit.open(paths["queue"])

    moving = "() => document.getAnimations().length"
    assert page.evaluate(moving) == 0


def test_the_skip_link_leads_to_the_content(
    contexts: Any, site: str, paths: dict[str, str]
) -> None:
    visit = Visit(contexts(), site)
    visit.sign_in(LONG_NAME)
    page = visit.open(paths["queue"])

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("() => document.activeElement.id") == "main"
