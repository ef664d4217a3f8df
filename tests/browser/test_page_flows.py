"""What an administrator does in the browser with JavaScript switched off."""

import pytest
from playwright.sync_api import Page, expect

from guildqueue.domain.ids import GuildId
from guildqueue.services.cancel import cancel_session
from tests import builders
from tests.browser.conftest import Visit
from tests.builders import stored_user


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    guild_id = builders.stored_guild()
    stored_user("ada", guilds=[guild_id])
    return guild_id


def waiting(page: Page) -> list[str]:
    return page.locator("#waiting .row .t").all_inner_texts()


def test_an_administrator_puts_a_meeting_first(visit: Visit, guild: GuildId) -> None:
    for title in ("Stand-up", "Voice memo", "Retrospective"):
        builders.stored_session(guild, title=title)

    page = visit.sign_in("ada")
    page.get_by_role("link", name="Starling Guild").click()
    page.locator("#waiting .row", has_text="Retrospective").locator("summary").click()
    page.get_by_role("button", name="First Retrospective").click()

    expect(page.get_by_role("status")).to_have_text("Retrospective moved from 3 to 1 of 3.")
    assert waiting(page) == ["Retrospective", "Stand-up", "Voice memo"]


@pytest.mark.parametrize(
    ("button", "order"),
    [("Up b", ["b", "a", "c"]), ("Down b", ["a", "c", "b"]), ("Last b", ["a", "c", "b"])],
)
def test_every_move_is_made_with_the_keyboard_alone(
    visit: Visit, guild: GuildId, button: str, order: list[str]
) -> None:
    for title in "abc":
        builders.stored_session(guild, title=title)
    visit.sign_in("ada")
    page = visit.open(f"/guilds/{guild}/")

    page.locator("#waiting .row").nth(1).locator("summary").focus()
    page.keyboard.press("Enter")
    for _ in range(10):
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        name = focused.get_attribute("id") or ""
        if name.startswith(button.split(maxsplit=1)[0].lower()):
            break
    page.keyboard.press("Enter")

    expect(page.get_by_role("status")).to_contain_text("b moved from 2 to")
    assert waiting(page) == order


def test_move_after_is_a_form_of_its_own(visit: Visit, guild: GuildId) -> None:
    for title in "abc":
        builders.stored_session(guild, title=title)
    visit.sign_in("ada")
    page = visit.open(f"/guilds/{guild}/")

    page.locator("#waiting .row").first.locator("summary").click()
    page.get_by_role("link", name="After… a").click()
    page.get_by_label("Put it right after").select_option("2. b")
    page.get_by_role("button", name="Move").click()

    expect(page.get_by_role("status")).to_have_text("a moved from 1 to 2 of 3.")
    assert waiting(page) == ["b", "a", "c"]


def test_only_one_menu_is_open_at_a_time(visit: Visit, guild: GuildId) -> None:
    for title in "ab":
        builders.stored_session(guild, title=title)
    visit.sign_in("ada")
    page = visit.open(f"/guilds/{guild}/")

    page.locator("#waiting .row").first.locator("summary").click()
    page.locator("#account-button").click()

    expect(page.locator("details[open]")).to_have_count(1)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_move_of_what_left_meanwhile_is_refused_on_a_fresh_page(
    visit: Visit, guild: GuildId
) -> None:
    gone = builders.stored_session(guild, title="Retrospective")
    builders.stored_session(guild, title="Stand-up")
    visit.sign_in("ada")
    page = visit.open(f"/guilds/{guild}/")
    cancel_session(gone, guild_id=guild, caller=builders.caller("Björk"))

    page.locator(f"#move-{gone}").click()
    page.locator(f"#last-{gone}").click()

    said = "Not moved: Retrospective has left the queue. The list is up to date."
    expect(page.get_by_role("status")).to_have_text(said)
    assert waiting(page) == ["Stand-up"]


def test_a_meeting_is_held_released_cancelled_and_requeued(visit: Visit, guild: GuildId) -> None:
    session_id = builders.stored_session(guild, title="Raid planning", n_tracks=2)
    visit.sign_in("ada")
    page = visit.open(f"/sessions/{session_id}/")
    status = page.get_by_role("status")

    page.get_by_role("link", name="Hold…").click()
    page.get_by_label("Reason").fill("wait for consent")
    page.get_by_role("button", name="Hold").click()
    expect(status).to_have_text("Raid planning is held.")
    expect(page.get_by_text("held by ada: “wait for consent”")).to_be_visible()

    page.get_by_role("link", name="Release…").click()
    expect(page.get_by_text("3 waiting jobs of it may start again")).to_be_visible()
    page.get_by_role("button", name="Release").click()
    expect(status).to_have_text("Raid planning is released.")

    page.get_by_role("link", name="Cancel…").click()
    expect(page.get_by_text("2 tracks will not be transcribed.")).to_be_visible()
    page.get_by_role("button", name="Cancel the meeting").click()
    expect(status).to_have_text("Raid planning is cancelled: 3 jobs stopped.")

    page.locator("#requeue").click()
    expect(page.get_by_text("2 tracks will be transcribed again (2 cancelled)")).to_be_visible()
    page.get_by_role("button", name="Requeue").click()
    expect(status).to_have_text("Raid planning is back in the queue with 3 jobs.")


def test_a_quick_action_is_previewed_and_applied(visit: Visit, guild: GuildId) -> None:
    for title, seconds in (("long", 3000.0), ("short", 60.0)):
        builders.stored_session(guild, title=title, audio_seconds=seconds)
    visit.sign_in("ada")
    page = visit.open(f"/guilds/{guild}/")

    page.get_by_role("link", name="Short recordings first").click()
    expect(page.get_by_role("row", name="short")).to_contain_text("2")
    page.get_by_role("button", name="Apply").click()

    assert waiting(page) == ["short", "long"]


def test_signing_out_needs_no_script(visit: Visit, guild: GuildId) -> None:
    page = visit.sign_in("ada")

    page.locator("#account-button").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/")
    page.goto(f"{visit.site}/guilds/{guild}/")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
