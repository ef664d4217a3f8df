"""What scripts of the page are answered: the list as it is now, and what there is to say."""

import json
from typing import Any

import pytest
from django.test import Client

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.cancel import cancel_session
from guildqueue.services.snapshot import queue_snapshot
from tests import builders

SCRIPTED = {"HX-Request": "true"}


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ids(guild: GuildId) -> list[SessionId]:
    return [builders.stored_session(guild, title=title) for title in "abc"]


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


def answer(response: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(response["HX-Trigger"])["queue:answer"]
    return found


def test_a_move_is_answered_with_the_list_its_version_and_a_sentence(
    ada: Client, guild: GuildId, ids: list[SessionId]
) -> None:
    response = ada.post(f"/sessions/{ids[2]}/move", {"to": "first"}, headers=SCRIPTED)

    assert response.status_code == 200
    assert response.content.decode().lstrip().startswith('<div class="bar"')
    assert answer(response)["said"] == [{"text": "c moved from 3 to 1 of 3.", "tone": "success"}]
    digest = queue_snapshot(guild).version.partition(".")[2]
    assert answer(response)["version"].endswith(f".{digest}")
    assert "no-store" in response["Cache-Control"]
    assert "HX-Request" in response["Vary"]


def test_what_was_said_to_a_script_is_not_said_again(
    ada: Client, guild: GuildId, ids: list[SessionId]
) -> None:
    ada.post(f"/sessions/{ids[2]}/move", {"to": "first"}, headers=SCRIPTED)

    assert "moved from" not in ada.get(f"/guilds/{guild}/").content.decode()


def test_a_move_that_changes_nothing_is_no_success(ada: Client, ids: list[SessionId]) -> None:
    response = ada.post(f"/sessions/{ids[0]}/move", {"to": "first"}, headers=SCRIPTED)

    assert [said["tone"] for said in answer(response)["said"]] == ["info"]


def test_an_undo_says_that_it_is_one(ada: Client, ids: list[SessionId]) -> None:
    sent = {"to": "last", "undo": "1"}
    response = ada.post(f"/sessions/{ids[0]}/move", sent, headers=SCRIPTED)

    said = answer(response)["said"][0]["text"]
    assert said == "Move undone: a moved from 1 to 3 of 3."


def test_a_refused_move_is_409_with_the_fresh_list(
    ada: Client, guild: GuildId, ids: list[SessionId]
) -> None:
    cancel_session(ids[1], guild_id=guild, caller=builders.caller())

    response = ada.post(f"/sessions/{ids[1]}/move", {"to": "first"}, headers=SCRIPTED)

    assert response.status_code == 409
    assert answer(response)["said"][0]["tone"] == "error"
    assert f'id="s-{ids[0]}"' in response.content.decode()
    assert "<html" not in response.content.decode()


def test_a_change_on_a_meetings_page_is_answered_with_the_meeting(
    ada: Client, guild: GuildId, ids: list[SessionId]
) -> None:
    sent = {"to": "first", "back": "session"}

    moved = ada.post(f"/sessions/{ids[1]}/move", sent, headers=SCRIPTED)
    cancel_session(ids[1], guild_id=guild, caller=builders.caller())
    refused = ada.post(f"/sessions/{ids[1]}/move", sent, headers=SCRIPTED)

    assert [moved.status_code, refused.status_code] == [200, 409]
    for response in (moved, refused):
        assert 'id="session-title"' in response.content.decode()


def test_a_page_behind_a_session_that_left_is_answered_with_the_front(
    ada: Client, guild: GuildId, ids: list[SessionId]
) -> None:
    sent = {"to": "first", "after": str(ids[0])}
    cancel_session(ids[0], guild_id=guild, caller=builders.caller())

    response = ada.post(f"/sessions/{ids[2]}/move", sent, headers=SCRIPTED)

    assert response.status_code == 200
    assert f'id="s-{ids[1]}"' in response.content.decode()


def test_a_script_of_nobody_is_sent_to_the_sign_in_and_back(ids: list[SessionId]) -> None:
    here = "http://testserver/guilds/118000000000000001/?after=7"

    response = Client().post(
        f"/sessions/{ids[0]}/move", headers=SCRIPTED | {"HX-Current-URL": here}
    )

    assert response.status_code == 401
    assert response.content == b""
    wanted = "/accounts/login/?next=%2Fguilds%2F118000000000000001%2F%3Fafter%3D7"
    assert response["HX-Redirect"] == wanted


def test_a_script_is_never_sent_back_to_another_host(ids: list[SessionId]) -> None:
    elsewhere = {"HX-Current-URL": "https://elsewhere.example/guilds/"}

    response = Client().get(f"/sessions/{ids[0]}/move", headers=SCRIPTED | elsewhere)

    assert response["HX-Redirect"] == "/accounts/login/?next=%2Fguilds%2F"


@pytest.mark.parametrize("verb", ["move", "hold", "cancel", "requeue"])
def test_a_question_for_a_dialog_is_its_content_alone(
    ada: Client, ids: list[SessionId], verb: str
) -> None:
    html = ada.get(f"/sessions/{ids[0]}/{verb}", headers=SCRIPTED).content.decode()

    assert "<html" not in html
    assert 'id="ask-title"' in html
    assert "<form" in html


def test_titles_of_any_script_travel_in_the_header(ada: Client, guild: GuildId) -> None:
    titled = builders.stored_session(guild, title="مجلس 🐦\u202e\r\nX-Evil: 1")
    builders.stored_session(guild, title="other")

    response = ada.post(f"/sessions/{titled}/move", {"to": "last"}, headers=SCRIPTED)

    assert response["HX-Trigger"].isascii()
    assert "مجلس 🐦" in answer(response)["said"][0]["text"]
    assert "X-Evil" not in response.headers
