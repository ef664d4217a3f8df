"""Dragging, as mice do it and as it is played with pointers, while others change the queue."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.cancel import cancel_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests import builders
from tests.browser.live import DRAGS, Viewer, box, drag, expect_line, lift, line

BJORK = builders.caller("Björk")


@pytest.fixture(params=DRAGS)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The browser's own drags, and those that SortableJS plays where there are none."""
    return DRAGS[request.param]


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    """Five meetings, a to e."""
    guild = builders.stored_guild()
    return [builders.stored_session(guild, title=title) for title in "abcde"]


@pytest.fixture
def viewer(
    ids: list[SessionId], viewer_of: Callable[..., Viewer], options: dict[str, Any]
) -> Viewer:
    ada = builders.stored_user("ada", guilds=[builders.STARLING])
    made = viewer_of(ada, **options)
    made.open(f"/guilds/{builders.STARLING}/")
    return made


def remotely_first(session_id: SessionId) -> None:
    move_session(session_id, guild_id=builders.STARLING, place=Place.FIRST, caller=BJORK)


def stored_line() -> list[str]:
    return [entry.title for entry in queue_snapshot(GuildId(builders.STARLING)).sessions]


def wait_for_held(page: Page) -> None:
    """A frame has come that the page does not show under the drag."""
    page.wait_for_function("() => performance.getEntriesByName('held').length > 0")


def test_a_drop_is_sent_once_said_once_and_stored(viewer: Viewer, ids: list[SessionId]) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1])

    expect(viewer.status).to_have_text("e moved from 5 to 2 of 5.")
    expect_line(page, "a", "e", "b", "c", "d")
    assert stored_line() == line(page)
    assert len(viewer.posts) == 1


def test_a_drop_in_its_own_place_sends_nothing(viewer: Viewer, ids: list[SessionId]) -> None:
    page = viewer.page

    drag(page, ids[2], before=ids[1], drop=False)
    drag_back = box(page.locator(f"#s-{ids[1]}"))
    page.mouse.move(drag_back["x"] + 40, drag_back["y"] + drag_back["height"] * 0.9, steps=4)
    drag_on(page, ids[2], after=ids[1])
    page.mouse.up()

    expect(page.locator(".lifted, .sortable-chosen")).to_have_count(0)
    assert (line(page), viewer.posts) == (list("abcde"), [])


def drag_on(page: Page, moved: int, *, after: int) -> None:
    """Go on with a drag until the row stands behind another."""
    for _ in range(200):
        if page.locator(f"#s-{after} + #s-{moved}").count():
            return
        place = box(page.locator(f"#s-{after}"))
        page.mouse.move(place["x"] + 40, place["y"] + place["height"] * 0.8, steps=3)
        page.mouse.move(place["x"] + 44, place["y"] + place["height"] * 0.95, steps=2)
    raise AssertionError("never came to stand there")


def test_escape_puts_the_row_back_and_sends_nothing(viewer: Viewer, ids: list[SessionId]) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    page.keyboard.press("Escape")
    page.mouse.up()

    expect_line(page, *"abcde")
    assert viewer.posts == []
    drag(page, ids[3], before=ids[0])
    expect_line(page, *"dabce")


def test_a_drop_outside_the_list_is_no_drop(viewer: Viewer, ids: list[SessionId]) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    page.mouse.move(1_150, 600, steps=5)
    page.mouse.up()

    expect_line(page, *"abcde")
    assert viewer.posts == []


def test_a_remote_move_in_mid_drag_is_shown_after_the_drop(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    remotely_first(ids[3])
    wait_for_held(page)
    assert line(page) == ["a", "e", "b", "c", "d"]
    page.mouse.up()

    expect_line(page, "d", "a", "e", "b", "c")
    assert stored_line() == ["d", "a", "e", "b", "c"]
    assert len(viewer.posts) == 1


def test_a_remote_move_in_mid_drag_is_shown_after_a_cancel(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    remotely_first(ids[3])
    wait_for_held(page)
    page.keyboard.press("Escape")
    page.mouse.up()

    expect_line(page, "d", "a", "b", "c", "e")
    assert viewer.posts == []


@pytest.mark.parametrize("fate", ["cancelled", "finished"])
def test_a_row_that_left_in_mid_drag_is_neither_revived_nor_doubled(
    viewer: Viewer, ids: list[SessionId], fate: str
) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    leave(ids[4], fate)
    wait_for_held(page)
    page.mouse.up()

    said = "Not moved: e has left the queue. The list is up to date."
    expect(viewer.status).to_have_text(said)
    expect_line(page, *"abcd")
    assert len(viewer.posts) == 1
    drag(page, ids[3], before=ids[0])
    expect(viewer.status).to_have_text("d moved from 4 to 1 of 4.")
    assert stored_line() == line(page) == list("dabc")


def leave(session_id: SessionId, fate: str) -> None:
    if fate == "cancelled":
        cancel_session(session_id, guild_id=builders.STARLING, caller=BJORK)
        return
    while leases := builders.running_jobs(session_id):
        for lease in leases:
            builders.complete(lease)


def test_a_neighbour_that_left_in_mid_drag_refuses_the_move(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page

    drag(page, ids[4], after=ids[0], drop=False)
    leave(ids[0], "cancelled")
    wait_for_held(page)
    page.mouse.up()

    expect(viewer.status).to_contain_text("the session to move it next to has left the queue")
    expect_line(page, *"bcde")


def test_a_session_that_starts_in_mid_drag_keeps_the_list_whole(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page

    drag(page, ids[4], before=ids[1], drop=False)
    builders.running_jobs(ids[4])
    wait_for_held(page)
    page.mouse.up()

    expect(viewer.status).to_contain_text("e moved")
    expect(page.locator("#running .row .t")).to_have_text(["e"])
    expect_line(page, *"abcd")
    expect(page.locator(f"#s-{ids[4]}")).to_have_count(1)


def test_a_stream_that_redraws_often_leaves_dragging_alive(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page

    for number in (1, 2, 3, 4, 2, 3):
        remotely_first(ids[number])
        expect(page.locator("#line .row").first).to_have_id(f"s-{ids[number]}")
    drag(page, ids[3], after=ids[0])

    expect(viewer.status).to_contain_text("d moved from 1 to")
    assert stored_line() == line(page)
    assert len(viewer.posts) == 1


def test_nothing_is_dragged_before_the_answer_is_there(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page
    page.route("**/move", answer_late)

    drag(page, ids[4], before=ids[1])
    lift(page, ids[3])
    page.mouse.up()

    expect(viewer.status).to_have_text("e moved from 5 to 2 of 5.")
    expect_line(page, "a", "e", "b", "c", "d")
    assert len(viewer.posts) == 1


def answer_late(route: Route) -> None:
    """Let the page try to drag again before it is answered."""
    answer = route.fetch()
    route.request.frame.page.wait_for_timeout(400)
    route.fulfill(response=answer)


def test_a_failure_puts_the_row_back_and_offers_to_try_again(
    viewer: Viewer, ids: list[SessionId]
) -> None:
    page = viewer.page
    page.route("**/move", lambda route: route.fulfill(status=503))

    drag(page, ids[4], before=ids[1])

    expect(viewer.status).to_contain_text("Not done: the queue did not answer")
    expect_line(page, *"abcde")
    page.unroute("**/move")
    page.get_by_role("button", name="Retry").click()
    expect(viewer.status).to_have_text("e moved from 5 to 2 of 5.")
    expect_line(page, "a", "e", "b", "c", "d")
