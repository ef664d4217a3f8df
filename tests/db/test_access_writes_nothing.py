"""Whoever is refused leaves every table of the queue as it was, asserted on committed rows."""

from collections.abc import Iterator

import pytest

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.token import Verb
from guildqueue.services.membership import remove_administrator
from guildqueue.services.tokens import issue_token, list_tokens, revoke_token
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, browser_of, token_of

pytestmark = pytest.mark.usefixtures("committed_db")

Call = tuple[str, str, object]


@pytest.fixture
def guild() -> GuildId:
    guild_id = builders.stored_guild()
    builders.stored_user("ada", guilds=[guild_id])
    builders.stored_user("ivo", guilds=[builders.stored_guild(builders.MAGPIE)])
    return guild_id


@pytest.fixture
def sessions(guild: GuildId) -> list[SessionId]:
    return [
        builders.stored_session(guild, audio_seconds=30.0),
        builders.stored_session(guild, audio_seconds=90.0),
        builders.cancelled_session(guild),
    ]


@pytest.fixture
def changes(guild: GuildId, sessions: list[SessionId]) -> list[Call]:
    """Calls that would each write something, were they let through in this order."""
    waiting, behind, cancelled = sessions
    place = {"place": "before", "session": str(waiting)}
    return [
        ("POST", f"/api/sessions/{behind}/queue/priority", place),
        ("POST", f"/api/guilds/{guild}/queue/priority", {"rule": "short-recordings-first"}),
        ("POST", f"/api/sessions/{waiting}/hold", {"reason": "x"}),
        ("DELETE", f"/api/sessions/{waiting}/hold", {}),
        ("POST", f"/api/guilds/{guild}/hold", {}),
        ("DELETE", f"/api/guilds/{guild}/hold", {}),
        ("POST", f"/api/sessions/{cancelled}/requeue", {}),
        ("POST", f"/api/sessions/{waiting}/cancel", {}),
    ]


def callers(guild: GuildId) -> Iterator[tuple[str, Caller, int]]:
    """Everybody who is refused, and with which status."""
    yield "nobody", Caller(), 401
    yield "stranger's browser", browser_of("ivo"), 404
    yield "stranger's token", token_of("ivo"), 404
    every_verb = issue_token("elsewhere", guild_ids=[builders.MAGPIE], verbs=[*Verb])
    yield "token of another guild", Caller({"Authorization": f"Bearer {every_verb}"}), 404
    reader = issue_token("reader", guild_ids=[guild], verbs=[Verb.READ, Verb.CLAIM])
    yield "token without the verb", Caller({"Authorization": f"Bearer {reader}"}), 403
    revoked = issue_token("revoked", username="ada")
    revoke_token(list_tokens()[-1].token_id)
    yield "revoked token", Caller({"Authorization": f"Bearer {revoked}"}), 401
    browser, token = browser_of("ada"), token_of("ada")
    remove_administrator("ada", guild_id=guild)
    yield "demoted browser", browser, 404
    yield "demoted token", token, 404


def test_a_refused_caller_writes_nothing(guild: GuildId, changes: list[Call]) -> None:
    refused = list(callers(guild))
    before = fingerprint()

    for name, caller, status in refused:
        for method, path, body in changes:
            answer = caller.call(method, path, body)

            assert answer.status_code == status, f"{name}: {method} {path}"
            assert fingerprint() == before, f"{name}: {method} {path}"


def test_the_same_calls_write_something_for_the_administrator(
    guild: GuildId, changes: list[Call]
) -> None:
    ada = token_of("ada")

    for method, path, body in changes:
        before = fingerprint()
        answer = ada.call(method, path, body)

        assert answer.status_code == 200, answer.content
        assert fingerprint() != before, path


def test_a_call_that_is_not_admitted_now_writes_nothing(
    guild: GuildId, sessions: list[SessionId]
) -> None:
    waiting, _, cancelled = sessions
    elsewhere = builders.stored_session(builders.stored_guild(builders.MAGPIE))
    ada = token_of("ada")
    move = f"/api/sessions/{waiting}/queue/priority"
    before = fingerprint()

    for method, path, body in (
        ("POST", move, {"place": "after", "session": str(elsewhere)}),
        ("POST", move, {"place": "after", "session": str(cancelled)}),
        ("POST", f"/api/sessions/{cancelled}/queue/priority", {"place": "first"}),
        ("POST", f"/api/sessions/{cancelled}/hold", {}),
        ("POST", f"/api/sessions/{cancelled}/cancel", {}),
        ("POST", f"/api/sessions/{waiting}/requeue", {}),
    ):
        assert ada.call(method, path, body).status_code == 409, path
        assert fingerprint() == before, path


def test_a_neighbour_of_another_guild_moves_neither_order(
    guild: GuildId, sessions: list[SessionId]
) -> None:
    magpie = builders.stored_guild(builders.MAGPIE)
    theirs = [builders.stored_session(magpie) for _ in range(2)]
    before = fingerprint()

    for place in ("before", "after"):
        path = f"/api/sessions/{sessions[0]}/queue/priority"
        answer = token_of("ada").post(path, {"place": place, "session": str(theirs[1])})

        assert answer.json()["refusal"] == "neighbour-left-queue"
        shown = {int(entry["session_id"]) for entry in answer.json()["order"]}
        assert shown == {*sessions[:2]}
    tokens = "guildqueue_api_token"
    assert {**fingerprint(), tokens: ""} == {**before, tokens: ""}
