"""What the page was promised to be like, one promise a test."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import CDPSession, Page, expect

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.cancel import cancel_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests import builders
from tests.browser.live import ANDROID, Viewer, box, drag, expect_line, focused, line
from tests.web.pages import HOSTILE
from tests.web.streams import Server, wait_for

BJORK = builders.caller("Björk")
QUEUE = f"/guilds/{builders.STARLING}/"
Viewers = Callable[..., Viewer]


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    """Five meetings, a to e."""
    guild = builders.stored_guild()
    return [builders.stored_session(guild, title=title, n_tracks=2) for title in "abcde"]


@pytest.fixture
def person(ids: list[SessionId], viewer_of: Viewers) -> Callable[..., Viewer]:
    """Makes an administrator who looks at the queue."""

    def make(name: str = "ada", **options: Any) -> Viewer:
        made = viewer_of(builders.stored_user(name, guilds=[builders.STARLING]), **options)
        made.open(QUEUE, is_live="locale" not in options)
        return made

    return make


def remotely(session_id: SessionId, place: Place = Place.FIRST) -> None:
    move_session(session_id, guild_id=builders.STARLING, place=place, caller=BJORK)


@pytest.mark.parametrize(
    ("control", "order"),
    [("first", "cabde"), ("up", "acbde"), ("down", "abdce"), ("last", "abdec")],
)
def test_01_every_move_is_made_with_the_keyboard_alone(
    person: Viewers, ids: list[SessionId], control: str, order: str
) -> None:
    ada = person()
    ada.page.locator(f"#move-{ids[2]}").focus()

    ada.page.keyboard.press("Enter")
    for _ in range(8):
        if focused(ada.page) == f"{control}-{ids[2]}":
            break
        ada.page.keyboard.press("ArrowDown")
    ada.page.keyboard.press("Enter")

    expect_line(ada.page, *order)
    assert focused(ada.page) == f"move-{ids[2]}"


def test_01_a_move_after_another_is_made_with_clicks_alone(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada = person()

    ada.page.locator(f"#move-{ids[0]}").click()
    ada.page.locator(f"#after-{ids[0]}").click()
    ada.page.get_by_label("Put it right after").select_option(label="4. d")
    ada.page.get_by_role("dialog").get_by_role("button", name="Move").click()

    expect(ada.status).to_have_text("a moved from 1 to 4 of 5.")
    expect_line(ada.page, *"bcdae")


def test_01_keys_on_the_handle_move_by_one_as_often_as_pressed(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada = person()
    ada.page.locator(f"#grip-{ids[3]}").focus()

    for _ in range(3):
        ada.page.keyboard.press("Alt+Shift+ArrowUp")

    expect_line(ada.page, *"dabce")
    ada.page.keyboard.press("Alt+Shift+ArrowUp")
    assert len(ada.posts) == 3
    assert focused(ada.page) == f"grip-{ids[3]}"


def test_02_focus_stays_after_own_remote_and_refused_changes(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada = person()
    ada.page.locator(f"#grip-{ids[2]}").focus()
    own = f"grip-{ids[2]}"

    ada.page.keyboard.press("Alt+Shift+ArrowUp")
    expect_line(ada.page, *"acbde")
    assert focused(ada.page) == own
    remotely(ids[4])
    expect_line(ada.page, *"eacbd")
    assert focused(ada.page) == own
    remotely(ids[2])
    expect_line(ada.page, *"ceabd")
    assert focused(ada.page) == own

    ada.page.locator("#pause").click()
    ada.page.locator(f"#grip-{ids[2]}").focus()
    cancel_session(ids[4], guild_id=builders.STARLING, caller=BJORK)
    ada.page.keyboard.press("Alt+Shift+ArrowDown")
    expect(ada.status).to_contain_text("Not moved")
    assert focused(ada.page) == own


def test_03_a_move_says_one_status_with_both_places(person: Viewers, ids: list[SessionId]) -> None:
    ada = person()
    ada.page.evaluate(
        """() => {
          window.said = [];
          new MutationObserver(() => {
            const text = document.querySelector('#status').textContent.trim();
            if (text && text !== said.at(-1)) said.push(text);
          }).observe(document.querySelector('#status'), {childList: true, subtree: true});
        }"""
    )

    drag(ada.page, ids[4], before=ids[1])
    expect(ada.status).to_have_text("e moved from 5 to 2 of 5.")
    for number in (2, 3, 2, 3):
        remotely(ids[number])
    expect(ada.page.locator("#line .row").first).to_have_id(f"s-{ids[3]}")

    assert ada.page.evaluate("() => said") == ["e moved from 5 to 2 of 5."]
    expect(ada.page.get_by_role("status")).to_have_count(1)


def test_05_two_who_want_the_same_place_see_one_order(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada, bjork = person(), person("Björk")
    drag(ada.page, ids[3], before=ids[0], drop=False)
    drag(bjork.page, ids[4], before=ids[0], drop=False)

    ada.page.mouse.up()
    bjork.page.mouse.up()

    for viewer in (ada, bjork):
        expect(viewer.status).to_contain_text("moved from")
    stored = [entry.title for entry in queue_snapshot(GuildId(builders.STARLING)).sessions]
    for viewer in (ada, bjork):
        expect(viewer.page.locator("#line .row .t")).to_have_text(stored, timeout=2_000)


def test_07_eight_tabs_over_one_host_still_load(person: Viewers, ids: list[SessionId]) -> None:
    ada = person()
    tabs = [ada.new_page() for _ in range(7)]
    for tab in tabs:
        tab.goto(f"{ada.site}{QUEUE}")
        hide(tab)

    tabs[-1].goto(f"{ada.site}{QUEUE}", timeout=10_000)

    expect(tabs[-1].locator("#line .row")).to_have_count(5)


def hide(page: Page) -> None:
    """As a browser hides a tab that another one is put before."""
    page.evaluate(
        """() => {
          const hidden = {get: () => window.hides ?? true, configurable: true};
          Object.defineProperty(document, 'hidden', hidden);
          document.dispatchEvent(new Event('visibilitychange'));
        }"""
    )


def test_a_tab_that_comes_back_shows_what_happened_meanwhile(
    person: Viewers, ids: list[SessionId], daphne: Server
) -> None:
    ada = person()
    hide(ada.page)
    wait_for(lambda: daphne.figure("guildqueue_live_streams") == 0)
    remotely(ids[3])
    assert line(ada.page) == list("abcde")

    ada.page.evaluate(
        "() => { window.hides = false; document.dispatchEvent(new Event('visibilitychange')); }"
    )

    expect_line(ada.page, *"dabce")
    expect(ada.sign).to_have_text("Live")


def test_twenty_visits_leave_one_stream(
    person: Viewers, ids: list[SessionId], daphne: Server
) -> None:
    ada = person()

    for number in range(20):
        ada.open("/guilds/" if number % 2 else QUEUE)

    wait_for(lambda: daphne.figure("guildqueue_live_streams") == 1)


def test_13_a_german_in_tokyo_reads_german_and_tokyos_time_in_live_rows(
    person: Viewers, ids: list[SessionId]
) -> None:
    viewer = person(locale="de-DE", timezone_id="Asia/Tokyo")
    page = viewer.page
    expect(viewer.sign).to_have_text("Live")
    expect(page.get_by_role("heading", name="Was als Nächstes läuft")).to_be_visible()

    remotely(ids[3])
    expect_line(page, *"dabce")
    page.locator(f"#move-{ids[3]}").click()
    page.locator(f"#last-{ids[3]}").click()

    expect(viewer.status).to_have_text("d von Platz 1 auf 5 von 5 verschoben.")
    row = page.locator(f"#s-{ids[3]}")
    expect(row).to_contain_text("nach hinten verschoben von ada, gerade eben")
    created = row.locator("time").first
    at = datetime.fromisoformat(created.get_attribute("datetime") or "")
    expect(created).to_have_text(f"{at.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M}")


def tablet(height: int) -> dict[str, Any]:
    size = {"width": 820, "height": height}
    return {"viewport": size, "has_touch": True, "user_agent": ANDROID}


def test_14_a_finger_that_starts_on_a_row_scrolls(person: Viewers, ids: list[SessionId]) -> None:
    ada = person(**tablet(300))
    row = box(ada.page.locator(f"#s-{ids[2]}"))
    x, y = row["x"] + 300, row["y"] + row["height"] / 2

    swipe(ada.context.new_cdp_session(ada.page), (x, y), (x, y - 150))

    ada.page.wait_for_function("() => scrollY > 0")
    assert (line(ada.page), ada.posts) == (list("abcde"), [])


def test_14_a_finger_drags_by_the_handle_after_a_hold(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada = person(**tablet(900))
    touch = ada.context.new_cdp_session(ada.page)
    grip = box(ada.page.locator(f"#grip-{ids[0]}"))
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    over = box(ada.page.locator(f"#s-{ids[1]}"))
    far = over["y"] + over["height"] * 0.9 - y

    send(touch, "touchStart", (x, y))
    ada.page.wait_for_selector(".sortable-chosen")
    ada.page.wait_for_timeout(200)  # the hold itself
    for share in (0.2, 0.4, 0.6, 0.8, 1.0, 1.02):
        send(touch, "touchMove", (x, y + far * share))
        ada.page.wait_for_timeout(40)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    expect(ada.status).to_contain_text("a moved from 1 to")
    assert (len(ada.posts), min(grip["width"], grip["height"]) >= 24) == (1, True)


def swipe(touch: CDPSession, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A quick stroke of a finger."""
    send(touch, "touchStart", start)
    for share in (0.25, 0.5, 0.75, 1.0):
        send(touch, "touchMove", (start[0], start[1] + (end[1] - start[1]) * share))
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def send(touch: CDPSession, kind: str, at: tuple[float, float]) -> None:
    points = [{"x": at[0], "y": at[1]}]
    touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_14_a_phone_has_no_handle_and_moves_by_menu(person: Viewers, ids: list[SessionId]) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    ada = person(**phone)
    expect(ada.page.locator(f"#grip-{ids[2]}")).to_be_hidden()

    ada.page.locator(f"#move-{ids[2]}").tap()
    ada.page.locator(f"#first-{ids[2]}").tap()

    expect_line(ada.page, *"cabde")


def test_15_pause_stops_redraws_and_resume_catches_up(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada, bjork = person(), person("Björk")
    ada.page.get_by_role("button", name="Pause").click()
    expect(ada.sign).to_contain_text("Paused, as of")

    for number in (4, 3, 2):
        remotely(ids[number])
    expect_line(bjork.page, *"cdeab")
    ada.page.wait_for_function("() => performance.getEntriesByName('held').length > 0")
    assert line(ada.page) == list("abcde")
    ada.page.get_by_role("button", name="Resume").click()

    expect_line(ada.page, *"cdeab")
    expect(ada.sign).to_have_text("Live")


def test_15_ones_own_move_is_shown_while_paused(person: Viewers, ids: list[SessionId]) -> None:
    ada = person()
    ada.page.get_by_role("button", name="Pause").click()

    ada.page.locator(f"#move-{ids[4]}").click()
    ada.page.locator(f"#first-{ids[4]}").click()

    expect_line(ada.page, *"eabcd")
    expect(ada.sign).to_contain_text("Paused, as of")


def test_nothing_that_people_type_is_run(person: Viewers, ids: list[SessionId]) -> None:
    ada = person()
    hostile = "<img src=x onerror=alert(1)>"

    added = builders.stored_session(builders.STARLING, title=hostile, participants=[HOSTILE])
    expect(ada.page.locator("#line .row .t").last).to_have_text(hostile)
    ada.page.locator(f"#move-{added}").click()
    ada.page.locator(f"#first-{added}").click()

    expect(ada.status).to_have_text(f"{hostile} moved from 6 to 1 of 6.")
    expect(ada.page.locator("#queue img, #toasts img")).to_have_count(0)


def test_nothing_of_the_queue_is_kept_where_the_next_person_finds_it(
    person: Viewers, ids: list[SessionId]
) -> None:
    ada = person()
    ada.page.locator(f"#title-{ids[0]}").click()
    expect(ada.sign).to_have_text("Live")

    ada.page.locator("#account-button").click()
    ada.page.get_by_role("button", name="Sign out").click()
    ada.page.wait_for_url("**/accounts/login/")
    kept = ada.page.evaluate("() => JSON.stringify([{...localStorage}, {...sessionStorage}])")
    ada.page.go_back()

    assert json.loads(kept) == [{}, {}]
    expect(ada.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_nothing_is_asked_of_another_host(person: Viewers, ids: list[SessionId]) -> None:
    ada = person()
    asked: list[str] = []
    ada.page.on("request", lambda request: asked.append(request.url))

    ada.open(QUEUE)

    assert len(asked) > 10
    assert [url for url in asked if not url.startswith(ada.site)] == []
