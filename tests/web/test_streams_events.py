"""What arrives on an open page, and when: on daphne and on uvicorn alike."""

import json
from collections.abc import Callable

import psycopg
import pytest

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.version import parse_version
from guildqueue.services.cancel import cancel_session
from guildqueue.services.hold import hold_guild, hold_session
from guildqueue.services.membership import add_administrator
from guildqueue.services.move import move_session
from tests import builders
from tests.web.streams import COMMENT, Event, Reader, Server, cookie

Opened = Callable[..., Reader]
ADA = builders.caller("ada")


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> str:
    return cookie(builders.stored_user("ada", guilds=[guild]))


@pytest.fixture
def sessions(guild: GuildId) -> list[SessionId]:
    return [builders.stored_session(guild, title=f"meeting {n}") for n in range(3)]


def api_path(guild_id: GuildId) -> str:
    return f"/api/guilds/{guild_id}/queue/stream"


def titles(event: Event) -> list[str]:
    return [session["title"] for session in json.loads(event.data)["sessions"]]


def test_a_stream_begins_with_what_the_api_shows(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    reader = opened(server, api_path(guild), Cookie=ada)
    first = reader.next()

    assert first is not None
    shown = json.loads(first.data)
    status, text = server.get(f"/api/guilds/{guild}/queue", Cookie=ada)
    assert (first.name, first.id, status) == ("snapshot", shown["version"], 200)
    plain = json.loads(text)
    assert parse_version(shown["version"]).digest == parse_version(plain["version"]).digest
    assert shown | {"version": ""} == plain | {"version": ""}
    assert len(shown["sessions"]) == len(sessions)
    assert 1_000 <= int(first.retry) <= 12_000


def test_no_one_between_may_hold_a_stream_back(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    headers = opened(server, api_path(guild), Cookie=ada).response.headers

    assert headers["Content-Type"].startswith("text/event-stream")
    assert headers["Content-Encoding"] == "identity"
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Accel-Buffering"] == "no"


def test_the_pages_stream_carries_the_inside_of_the_list(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    first = opened(server, f"/guilds/{guild}/stream", Cookie=ada).next()

    _, fragment = server.get(f"/guilds/{guild}/", Cookie=ada, **{"HX-Request": "true"})
    assert first is not None
    assert first.name == ""
    assert first.data.split() == fragment.split()
    assert "csrfmiddlewaretoken" not in first.data
    assert parse_version(first.id).digest


def test_a_move_arrives_and_is_a_change_by_itself(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    json_reader = opened(server, api_path(guild), Cookie=ada)
    page_reader = opened(server, f"/guilds/{guild}/stream", Cookie=ada)
    before = [reader.next() for reader in (json_reader, page_reader)]

    move_session(sessions[2], guild_id=guild, place=Place.FIRST, caller=ADA)

    moved = json_reader.next_named("snapshot")
    assert titles(moved) == ["meeting 2", "meeting 0", "meeting 1"]
    page = page_reader.next_named("")
    assert "moved first" in page.data
    for old, new in zip(before, (moved, page), strict=True):
        assert old is not None
        assert parse_version(new.id).number > parse_version(old.id).number


def test_what_a_worker_does_arrives_by_polling(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    reader = opened(server, api_path(guild), Cookie=ada)
    reader.next()

    [lease] = builders.running_jobs(sessions[0])
    running = json.loads(reader.next_named("snapshot").data)
    builders.complete(lease)
    done = json.loads(reader.next_named("snapshot").data)

    assert running["sessions"][0]["state"] == "running"
    assert done["counts"]["done"] == 1


def test_nothing_is_sent_while_nothing_changes_but_a_sign_of_life(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    reader = opened(server, api_path(guild), Cookie=ada)
    reader.next()
    builders.stored_session(builders.stored_guild(builders.MAGPIE))

    signs = [reader.next() for _ in range(3)]

    assert [sign.name for sign in signs if sign is not None] == [COMMENT] * 3


def test_the_guild_list_follows_the_users_own_guilds(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    reader = opened(server, "/guilds/stream", Cookie=ada)
    first = reader.next()
    hold_guild(guild, reason="", caller=ADA)
    held = reader.next_named("")
    add_administrator("ada", guild_id=builders.stored_guild(builders.MAGPIE, name="Magpie"))
    joined = reader.next_named("")

    assert first is not None
    assert 'data-state="held"' not in first.data
    assert 'data-state="held"' in held.data
    assert "Magpie" not in held.data
    assert "Magpie" in joined.data


def test_two_users_lists_are_their_own(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    magpie = builders.stored_guild(builders.MAGPIE, name="Magpie Collective")
    ivo = cookie(builders.stored_user("ivo", guilds=[magpie]))

    adas = opened(server, "/guilds/stream", Cookie=ada).next()
    ivos = opened(server, "/guilds/stream", Cookie=ivo).next()

    assert adas is not None
    assert ivos is not None
    assert "Starling" in adas.data
    assert "Magpie" not in adas.data
    assert "Magpie" in ivos.data
    assert "Starling" not in ivos.data


def test_a_sessions_page_follows_its_tracks(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId]
) -> None:
    reader = opened(server, f"/sessions/{sessions[0]}/stream", Cookie=ada)
    first = reader.next()
    hold_session(sessions[0], guild_id=guild, reason="later", caller=ADA)
    held = reader.next_named("")

    assert first is not None
    assert "meeting 0" in first.data
    assert 'data-state="held"' in held.data


def test_transactions_that_commit_in_another_order_than_they_began_end_in_the_right_state(
    server: Server, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId],
    database_url: str,
) -> None:  # fmt: skip
    reader = opened(server, api_path(guild), Cookie=ada)
    reader.next()
    rename = "UPDATE guildqueue_session SET title = %s WHERE id = %s"
    with psycopg.connect(database_url) as early, psycopg.connect(database_url) as late:
        early.execute(rename, ["renamed early", sessions[0]])
        late.execute(rename, ["renamed late", sessions[1]])
        late.commit()
        one = reader.next_named("snapshot")
        early.commit()
        both = reader.next_named("snapshot")

    assert titles(one) == ["meeting 0", "renamed late", "meeting 2"]
    assert titles(both) == ["renamed early", "renamed late", "meeting 2"]
    assert parse_version(both.id).number > parse_version(one.id).number


def test_markup_and_line_ends_in_a_title_stay_in_it(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    title = "<img src=x onerror=alert(1)>\r\n\r\nevent: end\r\ndata: gone"
    builders.stored_session(guild, title=title)

    shown = opened(server, api_path(guild), Cookie=ada).next()
    page = opened(server, f"/guilds/{guild}/stream", Cookie=ada).next()

    assert shown is not None
    assert titles(shown) == [title]
    assert page is not None
    assert page.name == ""
    assert "<img src=x" not in page.data


def test_a_reader_who_stalls_gets_the_newest_and_no_backlog(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    for number in range(150):
        builders.stored_session(guild, title=f"{number} {'long ' * 200}")
    sleeper = opened(server, api_path(guild), Cookie=ada)
    awake = opened(server, api_path(guild), Cookie=ada)
    sleeper.next()
    awake.next()

    waiting = [entry["session_id"] for entry in json.loads(awake.seen[0].data)["sessions"]]
    for session_id in waiting[:60]:
        cancel_session(SessionId(int(session_id)), guild_id=guild, caller=ADA)
        newest = awake.next_named("snapshot")

    while sleeper.next_named("snapshot").id != newest.id:
        pass
    assert len([event for event in sleeper.seen if event.name == "snapshot"]) < 55
