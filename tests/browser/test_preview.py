"""A quick action's preview that stays open while others change the queue under it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from guildqueue.domain.ids import SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.apply_rule import apply_rule
from guildqueue.services.move import move_session
from tests import builders
from tests.browser.live import Viewer, focused

QUEUE = f"/guilds/{builders.STARLING}/"
BJORK = builders.caller("Björk")
RULE = "short-recordings-first"
REFRESHED = "The queue changed meanwhile. This is how it would change as it stands now."


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    """Three meetings, the longest first."""
    guild = builders.stored_guild()
    return [
        builders.stored_session(guild, title=title, audio_seconds=seconds)
        for title, seconds in (("long", 3000.0), ("middle", 600.0), ("short", 60.0))
    ]


@pytest.fixture
def ada(ids: list[SessionId], viewer_of: Callable[..., Viewer]) -> Viewer:
    """Somebody who looks at the preview, the focus on its button."""
    made = viewer_of(builders.stored_user("ada", guilds=[builders.STARLING]))
    made.open(QUEUE).locator(f"#rule-{RULE}").click()
    expect(made.page.locator("#apply")).to_be_focused()
    return made


def test_an_open_preview_shows_what_others_left_of_it(ada: Viewer, ids: list[SessionId]) -> None:
    titles = ada.page.locator("#changes tbody th b")
    expect(titles).to_have_text(["short", "long"])
    expect(ada.page.locator("#refreshed")).to_be_empty()

    move_session(ids[0], guild_id=builders.STARLING, place=Place.LAST, caller=BJORK)

    expect(titles).to_have_text(["short", "middle"])
    expect(ada.page.locator("#refreshed")).to_have_text(REFRESHED)
    assert focused(ada.page) == "apply"
    ada.page.locator("#apply").click()
    expect(ada.status).to_contain_text("is applied")


def test_a_preview_of_what_somebody_applied_has_nothing_left_to_apply(
    ada: Viewer, ids: list[SessionId]
) -> None:
    apply_rule(builders.STARLING, rule=RULE, caller=BJORK)

    expect(ada.page.locator("#nothing")).to_be_visible()
    expect(ada.page.locator("#apply")).to_have_count(0)
    assert focused(ada.page) == "leave"

    move_session(ids[0], guild_id=builders.STARLING, place=Place.FIRST, caller=BJORK)

    expect(ada.page.locator("#apply")).to_be_visible()


def test_a_preview_says_nothing_of_what_changes_nothing_in_it(ada: Viewer) -> None:
    with ada.page.expect_response(lambda answer: answer.url.endswith(RULE)) as read:
        builders.cancelled_session(builders.STARLING)

    assert read.value.status == 200
    expect(ada.page.locator("#refreshed")).to_be_empty()
