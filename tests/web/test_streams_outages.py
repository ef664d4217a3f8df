"""What becomes of open pages while the database, or the hearing of changes, is away."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.move import move_session
from tests import builders
from tests.web.streams import SERVERS, Reader, Server, cookie, serving, wait_for
from tests.web.wire import Mode, Wire, wire_to

Opened = Callable[..., Reader]
ADA = builders.caller("ada")
LISTENING = "guildqueue_live_listening"
SELDOM = {"QUEUE_POLL_SECONDS": "20"}  # what arrives sooner was heard
LISTENERS = (
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'guildqueue listen'"
)


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> str:
    return cookie(builders.stored_user("ada", guilds=[guild]))


@pytest.fixture
def sessions(guild: GuildId) -> list[SessionId]:
    return [builders.stored_session(guild, title=f"meeting {n}") for n in range(3)]


@pytest.fixture
def wire(database_url: str) -> Iterator[Wire]:
    with wire_to(database_url) as made:
        yield made


def api_path(guild_id: GuildId) -> str:
    return f"/api/guilds/{guild_id}/queue/stream"


def hears(server: Server) -> bool:
    return server.figure(LISTENING) == 1


def arrives_within(reader: Reader, guild: GuildId, moved: SessionId, seconds: float) -> None:
    began = time.monotonic()
    move_session(moved, guild_id=guild, place=Place.FIRST, caller=ADA)
    reader.next_named("snapshot", timeout_s=seconds)
    assert time.monotonic() - began < seconds


@pytest.mark.parametrize("kind", SERVERS)
def test_a_change_during_an_outage_arrives_on_the_page_that_stayed_and_on_one_that_comes_back(
    kind: str, opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId],
    wire: Wire, tmp_path: Path,
) -> None:  # fmt: skip
    with serving(kind, tmp_path, wire.url) as server:
        staying = opened(server, api_path(guild), Cookie=ada)
        staying.next()

        wire.set(Mode.CUT)
        staying.next_named("away")
        began = time.monotonic()
        status, _ = server.get(api_path(guild), Cookie=ada)
        refused_in_s = time.monotonic() - began
        move_session(sessions[2], guild_id=guild, place=Place.FIRST, caller=ADA)
        wire.set(Mode.PASSES)

        assert (status, refused_in_s < 8) == (503, True)
        assert (
            '"title":"meeting 2"' in staying.next_named("snapshot").data.partition("meeting 0")[0]
        )
        staying.next_named("back")
        again = opened(server, api_path(guild), Cookie=ada).next()
        assert again is not None
        assert again.data.index("meeting 2") < again.data.index("meeting 0")
        assert "Traceback" not in server.log.read_text()


def test_a_listening_connection_that_is_terminated_is_made_again(
    opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId], tmp_path: Path,
    database_url: str,
) -> None:  # fmt: skip
    with serving("daphne", tmp_path, database_url) as server:
        reader = opened(server, api_path(guild), Cookie=ada)
        reader.next()
        wait_for(lambda: hears(server))
        with psycopg.connect(database_url, autocommit=True) as connection:
            [(pid,)] = connection.execute(LISTENERS).fetchall()
            connection.execute("SELECT pg_terminate_backend(%s)", [pid])

        arrives_within(reader, guild, sessions[2], 3)  # polled meanwhile
        wait_for(lambda: hears(server), timeout_s=10)
        assert "changes are polled, not heard" in server.log.read_text()


def test_what_was_said_in_a_gap_is_read_when_the_gap_ends(
    opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId], wire: Wire,
    tmp_path: Path, database_url: str,
) -> None:  # fmt: skip
    hearing_by_wire = SELDOM | {"LISTEN_DATABASE_URL": wire.url}
    with serving("uvicorn", tmp_path, database_url, **hearing_by_wire) as server:
        reader = opened(server, api_path(guild), Cookie=ada)
        reader.next()
        wait_for(lambda: hears(server))
        arrives_within(reader, guild, sessions[2], 2)

        wire.set(Mode.CUT)
        wait_for(lambda: not hears(server))
        move_session(sessions[1], guild_id=guild, place=Place.FIRST, caller=ADA)
        wire.set(Mode.PASSES)

        reader.next_named("snapshot", timeout_s=8)


def test_a_connection_that_goes_silent_without_closing_is_noticed(
    opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId], wire: Wire,
    tmp_path: Path, database_url: str,
) -> None:  # fmt: skip
    hearing_by_wire = {"LISTEN_DATABASE_URL": wire.url}
    with serving("daphne", tmp_path, database_url, **hearing_by_wire) as server:
        reader = opened(server, api_path(guild), Cookie=ada)
        reader.next()
        wait_for(lambda: hears(server))

        wire.set(Mode.SILENT)
        arrives_within(reader, guild, sessions[2], 3)
        wait_for(lambda: not hears(server), timeout_s=10)
        wire.set(Mode.PASSES)
        wait_for(lambda: hears(server), timeout_s=40)

        assert server.log.read_text().count("changes are polled, not heard") == 1


def test_a_backend_that_hangs_is_replaced(
    opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId], tmp_path: Path,
    database_url: str,
) -> None:  # fmt: skip
    with (
        serving("daphne", tmp_path, database_url) as server,
        psycopg.connect(database_url, autocommit=True) as connection,
    ):
        reader = opened(server, api_path(guild), Cookie=ada)
        reader.next()
        wait_for(lambda: hears(server))
        [(pid,)] = connection.execute(LISTENERS).fetchall()
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError as error:
            pytest.skip(f"the database's processes are not ours to stop: {error}")
        try:
            arrives_within(reader, guild, sessions[2], 3)
            wait_for(lambda: not hears(server), timeout_s=10)
            wait_for(lambda: hears(server), timeout_s=15)
        finally:
            os.kill(pid, signal.SIGCONT)


def test_behind_a_pooler_that_passes_no_notifications_on_it_warns_once_and_polls(
    opened: Opened, guild: GuildId, ada: str, sessions: list[SessionId], wire: Wire,
    tmp_path: Path, database_url: str,
) -> None:  # fmt: skip
    wire.set(Mode.DEAF)
    pooled = {"LISTEN_DATABASE_URL": wire.url}
    with serving("uvicorn", tmp_path, database_url, **pooled) as server:
        reader = opened(server, api_path(guild), Cookie=ada)
        reader.next()

        wait_for(lambda: "LISTEN_DATABASE_URL" in server.log.read_text(), timeout_s=15)

        arrives_within(reader, guild, sessions[2], 3)
        assert not hears(server)
        assert server.log.read_text().count("changes are polled, not heard") == 1


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_ends_at_once_also_while_its_database_is_silent(
    kind: str, opened: Opened, guild: GuildId, ada: str, wire: Wire, tmp_path: Path
) -> None:
    with serving(kind, tmp_path, wire.url) as server:
        opened(server, api_path(guild), Cookie=ada).next()
        wire.set(Mode.SILENT)
        time.sleep(1)  # a read begins

        took_s = server.stop()
        wire.set(Mode.PASSES)

    assert took_s < 5
