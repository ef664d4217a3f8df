"""The list as two people see it: moves, who made them, undo, focus, the sign and its pause."""

from collections.abc import Callable

import pytest
from django.db import connections
from playwright.sync_api import Route, expect

from guildqueue.domain.ids import SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.cancel import cancel_session
from guildqueue.services.membership import remove_administrator
from guildqueue.services.move import move_session
from tests import builders
from tests.browser.live import Viewer, expect_line, focused, line

BJORK = builders.caller("Björk")
QUEUE = f"/guilds/{builders.STARLING}/"
Viewers = Callable[..., Viewer]


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    """Five meetings, a to e."""
    guild = builders.stored_guild()
    return [builders.stored_session(guild, title=title, n_tracks=2) for title in "abcde"]


@pytest.fixture
def ada(ids: list[SessionId], viewer_of: Viewers) -> Viewer:
    made = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    made.open(QUEUE)
    return made


def remotely(session_id: SessionId, place: Place = Place.FIRST) -> None:
    move_session(session_id, guild_id=builders.STARLING, place=place, caller=BJORK)


def test_a_remote_move_is_shown_tinted_with_who_made_it(ada: Viewer, ids: list[SessionId]) -> None:
    remotely(ids[3])

    expect_line(ada.page, *"dabce")
    row = ada.page.locator(f"#s-{ids[3]}")
    expect(row).to_have_attribute("data-changed", "")
    expect(row).to_contain_text("moved first by Björk, just now")
    expect(row).not_to_have_attribute("data-changed", "", timeout=5_000)
    expect(ada.status).to_have_text("")


def test_a_remote_move_is_a_still_mark_for_those_who_want_no_motion(
    ids: list[SessionId], viewer_of: Viewers
) -> None:
    viewer = viewer_of(
        builders.stored_user("ada", guilds=[builders.STARLING]), reduced_motion="reduce"
    )
    page = viewer.open(QUEUE)

    remotely(ids[3])

    expect(page.locator(f"#s-{ids[3]}")).to_have_attribute("data-changed", "")
    assert page.evaluate("() => document.getAnimations().length") == 0


def test_ones_own_move_is_not_tinted(ada: Viewer, ids: list[SessionId]) -> None:
    ada.page.locator(f"#move-{ids[3]}").click()
    ada.page.locator(f"#first-{ids[3]}").click()

    expect_line(ada.page, *"dabce")
    expect(ada.status).to_have_text("d moved from 4 to 1 of 5.")
    expect(ada.page.locator("[data-changed]")).to_have_count(0)


def test_an_open_menu_stays_open_while_others_move_things(
    ada: Viewer, ids: list[SessionId]
) -> None:
    ada.page.locator(f"#move-{ids[2]}").click()

    remotely(ids[3])

    expect_line(ada.page, *"dabce")
    expect(ada.page.locator(f"#first-{ids[2]}")).to_be_visible()


def test_undo_is_offered_and_stays_in_the_menu(ada: Viewer, ids: list[SessionId]) -> None:
    page = ada.page
    page.locator(f"#move-{ids[1]}").click()
    page.locator(f"#last-{ids[1]}").click()
    expect(ada.status).to_have_text("b moved from 2 to 5 of 5.")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()

    remotely(ids[3])
    page.locator(f"#move-{ids[1]}").click()
    page.get_by_role("button", name="Undo my move b").click()

    expect(ada.status).to_have_text("Move undone: b moved from 5 to 3 of 5.")
    expect_line(page, *"dabce")
    expect(page.locator(f"#undo-{ids[1]}")).to_have_count(0)


def test_undo_is_a_move_that_others_may_have_made_impossible(
    ada: Viewer, ids: list[SessionId]
) -> None:
    page = ada.page
    page.locator(f"#move-{ids[1]}").click()
    page.locator(f"#last-{ids[1]}").click()
    expect_line(page, *"acdeb")
    cancel_session(ids[0], guild_id=builders.STARLING, caller=BJORK)
    expect_line(page, *"cdeb")

    page.get_by_role("button", name="Undo", exact=True).click()

    expect(ada.status).to_contain_text("Not moved: the session to move it next to has left")
    expect_line(page, *"cdeb")


def test_focus_goes_to_the_next_rows_control_when_its_row_is_gone(
    ada: Viewer, ids: list[SessionId]
) -> None:
    ada.page.locator(f"#grip-{ids[1]}").focus()

    cancel_session(ids[1], guild_id=builders.STARLING, caller=BJORK)
    expect_line(ada.page, *"acde")
    assert focused(ada.page) == f"grip-{ids[2]}"

    for session_id in (ids[2], ids[3], ids[4], ids[0]):
        cancel_session(session_id, guild_id=builders.STARLING, caller=BJORK)
    expect(ada.page.locator("#line")).to_have_count(0)
    assert focused(ada.page) == "waiting-title"


def test_a_session_that_starts_shows_its_progress(ada: Viewer, ids: list[SessionId]) -> None:
    lease, _ = builders.running_jobs(ids[0], n=2)
    running = ada.page.locator("#running")
    expect(running.locator(".row .t")).to_have_text(["a"])
    expect(ada.page.locator(".figures").first).to_contain_text("running2")

    builders.complete(lease)

    expect(running.locator(".tracks")).to_have_attribute("aria-label", "1 done, 1 running (0 %)")


def test_what_finishes_goes_to_the_finished(ada: Viewer, ids: list[SessionId]) -> None:
    while leases := builders.running_jobs(ids[0]):
        for lease in leases:
            builders.complete(lease)

    expect(ada.page.locator("#finished .row .t")).to_have_text(["a"])
    expect_line(ada.page, *"bcde")


def test_a_demoted_administrator_is_told_and_the_page_is_no_longer_live(
    ada: Viewer, ids: list[SessionId]
) -> None:
    remove_administrator("ada", guild_id=builders.STARLING)

    expect(ada.status).to_have_text(
        "You no longer administer this, so this page is no longer live."
    )
    expect(ada.sign).to_contain_text("Not live, as of")
    assert ada.page.get_by_role("link", name="Your guilds").is_visible()


def test_signing_out_elsewhere_is_told_and_leads_back_here(
    ada: Viewer, ids: list[SessionId]
) -> None:
    other = ada.new_page()
    other.goto(f"{ada.site}/guilds/")
    other.locator("#account-button").click()
    other.get_by_role("button", name="Sign out").click()

    expect(ada.status).to_have_text("You are signed out, so this page is no longer live.")
    ada.page.get_by_role("link", name="Sign in").click()
    expect(ada.page).to_have_url(f"{ada.site}/accounts/login/?next={QUEUE}")


def test_a_move_after_signing_out_leads_to_the_sign_in_and_back(
    ada: Viewer, ids: list[SessionId]
) -> None:
    ada.page.locator("#pause").click()
    ada.context.clear_cookies(name="sessionid")

    ada.page.locator(f"#move-{ids[1]}").click()
    ada.page.locator(f"#first-{ids[1]}").click()

    ada.page.wait_for_url(f"**/accounts/login/?next=*{builders.STARLING}*")
    expect(ada.page.locator("#queue")).to_have_count(0)


def test_an_old_form_token_is_told_and_nothing_is_moved(ada: Viewer, ids: list[SessionId]) -> None:
    ada.context.clear_cookies(name="csrftoken")

    ada.page.locator(f"#move-{ids[1]}").click()
    ada.page.locator(f"#first-{ids[1]}").click()

    expect(ada.status).to_contain_text("Not done: this page is out of date")
    ada.page.get_by_role("button", name="Reload").click()
    expect(ada.sign).to_have_text("Live")
    assert line(ada.page) == list("abcde")


def test_an_older_answer_never_overwrites_a_newer_list(ada: Viewer, ids: list[SessionId]) -> None:
    page = ada.page
    page.route("**/move", lambda route: hold_back(route, ids[3]))

    page.locator(f"#move-{ids[1]}").click()
    page.locator(f"#first-{ids[1]}").click()

    expect(ada.status).to_have_text("b moved from 2 to 1 of 5.")
    expect_line(page, *"dbace")


def hold_back(route: Route, session_id: SessionId) -> None:
    """Take the answer, let somebody else move, and hand the answer over only then."""
    answer = route.fetch()
    remotely(session_id)
    connections.close_all()  # this one is the callback's own
    route.fulfill(response=answer)


def test_the_page_is_told_apart_from_a_server_that_went_away(
    ada: Viewer, ids: list[SessionId]
) -> None:
    page = ada.page
    page.route("**/stream", lambda route: route.fulfill(status=503))
    page.evaluate("() => document.querySelector('#queue')._htmx.sse.reader.cancel()")

    expect(ada.sign).to_contain_text("Reconnecting, as of")
    remotely(ids[3])
    page.unroute("**/stream")

    expect(ada.sign).to_have_text("Live", timeout=30_000)
    expect_line(page, *"dabce")


def test_a_network_that_goes_away_is_said_at_once_and_not_waited_for_when_back(
    ada: Viewer, ids: list[SessionId]
) -> None:
    ada.context.set_offline(True)

    expect(ada.sign).to_contain_text("Reconnecting, as of", timeout=3_000)
    remotely(ids[3])
    expect_line(ada.page, *"abcde")
    ada.context.set_offline(False)

    expect(ada.sign).to_have_text("Live", timeout=5_000)
    expect_line(ada.page, *"dabce")


def test_a_connection_that_goes_silent_is_opened_again(
    ids: list[SessionId], viewer_of: Viewers
) -> None:
    viewer = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    viewer.page.add_init_script(FIRST_STREAM_IS_SILENT)
    page = viewer.open(QUEUE)
    remotely(ids[3])

    page.wait_for_function("() => streams >= 2", timeout=15_000)
    expect_line(page, *"dabce")


# After its first bytes the first stream says nothing more, and does not end either.
FIRST_STREAM_IS_SILENT = """
window.streams = 0;
const fetched = window.fetch;
window.fetch = async (url, request) => {
  const response = await fetched(url, request);
  if (!String(url).endsWith('/stream') || ++window.streams > 1) return response;
  const reader = response.body.getReader();
  let n = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (n++) return new Promise(() => {});
      controller.enqueue((await reader.read()).value);
    },
  });
  return new Response(body, {status: 200, headers: response.headers});
};
"""


def test_the_list_of_guilds_is_live_too(ids: list[SessionId], viewer_of: Viewers) -> None:
    viewer = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    page = viewer.open("/guilds/")
    expect(page.locator(".card")).to_contain_text("Next: a")

    remotely(ids[2])

    expect(page.locator(".card")).to_contain_text("Next: c")


def test_a_meetings_page_is_live_while_its_tracks_run(
    ids: list[SessionId], viewer_of: Viewers
) -> None:
    viewer = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    page = viewer.open(f"/sessions/{ids[0]}/")

    lease, _ = builders.running_jobs(ids[0], n=2)
    expect(page.locator(".track .tag").first).to_have_text("running 0 %")
    builders.bury(lease, error="<img src=x onerror=alert(1)>")

    expect(page.locator(".track pre")).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator(f"#requeue-{lease.job.id}")).to_be_visible()


def test_a_meetings_own_buttons_answer_in_place(ids: list[SessionId], viewer_of: Viewers) -> None:
    viewer = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    page = viewer.open(f"/sessions/{ids[2]}/")

    page.locator("#first").click()
    expect(viewer.status).to_have_text("c moved from 3 to 1 of 5.")
    expect(page.locator(".facts").first).to_contain_text("1 in line")
    page.locator("#hold").click()
    page.get_by_label("Reason").fill("wait for consent")
    page.get_by_role("button", name="Hold").click()

    expect(viewer.status).to_have_text("c is held.")
    expect(page.locator("#session")).to_contain_text("held by ada: “wait for consent”")
    expect(page).to_have_url(f"{viewer.site}/sessions/{ids[2]}/")


def test_a_quick_action_is_previewed_over_the_list_and_applied(
    ids: list[SessionId], viewer_of: Viewers
) -> None:
    builders.stored_session(builders.STARLING, title="short", audio_seconds=5.0)
    viewer = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    page = viewer.open(QUEUE)

    page.get_by_role("link", name="Short recordings first").click()
    dialog = page.get_by_role("dialog", name="Short recordings first")
    expect(dialog.get_by_role("row", name="short")).to_contain_text("1")
    assert line(page) == [*"abcde", "short"]
    dialog.get_by_role("button", name="Apply").click()

    expect(viewer.status).to_have_text("“Short recordings first” is applied.")
    expect_line(page, "short", *"abcde")
    expect(dialog).to_be_hidden()
    expect(page.locator("#rule-short-recordings-first")).to_be_focused()


def test_a_cancel_is_asked_over_the_list_and_can_be_left(ada: Viewer, ids: list[SessionId]) -> None:
    page = ada.page
    page.locator(f"#move-{ids[1]}").click()
    page.locator(f"#cancel-{ids[1]}").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 tracks will not be transcribed.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(f"#move-{ids[1]}")).to_be_focused()

    page.locator(f"#move-{ids[1]}").click()
    page.locator(f"#cancel-{ids[1]}").click()
    dialog.get_by_role("button", name="Cancel the meeting").click()

    expect(ada.status).to_have_text("b is cancelled: 3 jobs stopped.")
    expect_line(page, *"acde")
