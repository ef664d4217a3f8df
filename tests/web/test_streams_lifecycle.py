"""Streams cost nothing once they are gone, and never keep a server from ending."""

import contextlib
import http.client
import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.move import move_session
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.web.streams import SERVERS, Event, Reader, Server, cookie, serving, wait_for

Opened = Callable[..., Reader]
ADA = builders.caller("ada")
OPEN = "guildqueue_live_streams"
LINGER_S = 5.0  # until the hub lets its last connection go


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> str:
    return cookie(builders.stored_user("ada", guilds=[guild]))


def api_path(guild_id: GuildId) -> str:
    return f"/api/guilds/{guild_id}/queue/stream"


def reset(reader: Reader) -> None:
    """End the connection as a killed client does."""
    reader.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    reader.close()


@pytest.fixture
def n_connections(database_url: str) -> Iterator[Callable[[], int]]:
    """How many connections the database has, this one and the test's own aside."""
    with psycopg.connect(database_url, autocommit=True) as connection:

        def count() -> int:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            ).fetchone()
            assert row is not None
            return int(row[0])

        yield count


def test_fifty_killed_clients_leave_nothing_behind(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    readers = [opened(server, api_path(guild), Cookie=ada) for _ in range(50)]
    for reader in readers:
        reader.next()
    assert server.figure(OPEN) == 50

    for reader in readers:
        reset(reader)
    killed_at = time.monotonic()

    wait_for(lambda: server.figure(OPEN) == 0)
    assert time.monotonic() - killed_at < 5
    assert server.figure("guildqueue_live_subjects") == 0


def test_a_hundred_idle_viewers_take_five_connections_at_most_and_give_them_back(
    server: Server, opened: Opened, guild: GuildId, ada: str, n_connections: Callable[[], int]
) -> None:
    wait_for(lambda: server.figure("guildqueue_live_listening") == 0)
    before = n_connections()
    readers = [opened(server, api_path(guild), Cookie=ada) for _ in range(100)]
    most = n_connections()
    for reader in readers:
        reader.next()
        most = max(most, n_connections())
    readers[0].next_named("comment")
    idle = n_connections()

    for reader in readers[:20]:
        reset(reader)
    for reader in readers[20:]:
        reader.close()
    wait_for(lambda: server.figure("guildqueue_live_listening") == 0, timeout_s=2 * LINGER_S)

    assert most <= before + 5
    assert idle <= before + 5
    # What is left is the pool's, as many as its threads ever used at once.
    wait_for(lambda: n_connections() <= before + 2)


def test_connections_do_not_pile_up_with_the_streams_that_come_and_go(
    server: Server, opened: Opened, guild: GuildId, ada: str, n_connections: Callable[[], int]
) -> None:
    opened(server, api_path(guild), Cookie=ada).next()
    before = n_connections()

    for _ in range(200):
        reader = opened(server, api_path(guild), Cookie=ada)
        reset(reader)

    wait_for(lambda: server.figure(OPEN) == 1)
    assert n_connections() <= before + 2


@pytest.mark.alone
def test_a_dozen_streams_leave_room_for_pages(
    server: Server, opened: Opened, guild: GuildId, ada: str
) -> None:
    for _ in range(12):
        opened(server, api_path(guild), Cookie=ada).next()
    began = time.monotonic()

    status, _ = server.get(f"/guilds/{guild}/", Cookie=ada)

    assert status == 200
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_with_streams_open_ends_at_once_and_its_pages_come_back_to_the_next(
    kind: str, opened: Opened, guild: GuildId, ada: str, tmp_path: Path, database_url: str
) -> None:
    sessions = [builders.stored_session(guild, title=f"{n} {'x' * 2000}") for n in range(150)]
    with serving(kind, tmp_path, database_url) as first:
        readers = [opened(first, api_path(guild), Cookie=ada) for _ in range(25)]
        stalled = [opened(first, api_path(guild), Cookie=ada) for _ in range(2)]
        for reader in (*readers, *stalled):
            reader.next()
        for number in range(20):
            move_session(sessions[-1 - number], guild_id=guild, place=Place.FIRST, caller=ADA)
            readers[0].next_named("snapshot")

        took_s = first.stop()

        assert took_s < 5
        assert "Traceback" not in first.log.read_text()
        for reader in readers:
            # Nothing tells them not to come back.
            assert "end" not in [event.name for event in reader.ends()]
        move_session(sessions[0], guild_id=guild, place=Place.FIRST, caller=ADA)
    with serving(kind, tmp_path, database_url) as second:
        again = opened(second, api_path(guild), Cookie=ada, **{"Last-Event-ID": "1.x"}).next()
    assert again is not None
    assert json.loads(again.data)["sessions"][0]["session_id"] == str(sessions[0])


@pytest.mark.alone
def test_two_servers_show_a_move_that_a_third_process_made(
    opened: Opened, guild: GuildId, ada: str, tmp_path: Path, database_url: str
) -> None:
    builders.stored_session(guild, title="first")
    moved = builders.stored_session(guild, title="second")
    # So rarely polled that what arrives was heard.
    slow = {"QUEUE_POLL_SECONDS": "60", "LIVE_HEARTBEAT_SECONDS": "60"}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(serving(k, tmp_path, database_url, **slow)) for k in SERVERS]
        readers = [opened(server, api_path(guild), Cookie=ada) for server in servers]
        for server, reader in zip(servers, readers, strict=True):
            reader.next()
            wait_for(lambda s=server: s.figure("guildqueue_live_listening") == 1)

        began = time.monotonic()
        ask_to_move(servers[0], moved)
        shown = [json.loads(reader.next_named("snapshot").data) for reader in readers]

        assert time.monotonic() - began < 2
        assert [page["sessions"][0]["title"] for page in shown] == ["second", "second"]


def ask_to_move(server: Server, session_id: SessionId) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    raw = issue_token("adas", username="ada")
    headers = {"Authorization": f"Bearer {raw}", "Content-Type": "application/json"}
    path = f"/api/sessions/{session_id}/queue/priority"
    with contextlib.closing(connection):
        connection.request("POST", path, body='{"place": "first"}', headers=headers)
        response = connection.getresponse()
        assert (response.status, bool(response.read())) == (200, True)


@pytest.mark.parametrize("kind", SERVERS)
def test_compression_never_holds_a_stream_back(
    kind: str, opened: Opened, guild: GuildId, ada: str, tmp_path: Path, database_url: str
) -> None:
    session_id = builders.stored_session(guild)
    gzip = {"DJANGO_SETTINGS_MODULE": "tests.web.live_gzip_site"}
    with serving(kind, tmp_path, database_url, **gzip) as server:
        headers = {"Cookie": ada, "Accept-Encoding": "gzip", "Accept-Language": "de"}
        readers = [
            opened(server, path, **headers)
            for path in (
                api_path(guild), f"/guilds/{guild}/stream", "/guilds/stream",
                f"/sessions/{session_id}/stream",
            )
        ]  # fmt: skip
        assert all(reader.response.headers["Content-Encoding"] == "identity" for reader in readers)
        for _ in range(3):
            for reader in readers:
                assert reader.next() is not None
        moved = builders.stored_session(guild, title="another")
        move_session(moved, guild_id=guild, place=Place.FIRST, caller=ADA)
        assert "another" in readers[0].next_named("snapshot").data
        assert "another" in readers[1].next_named("").data


@pytest.mark.alone
@pytest.mark.parametrize(("kind", "limit_kib"), [("daphne", 64), ("uvicorn", 256)])
def test_a_stalled_reader_keeps_little_in_the_server(
    kind: str, limit_kib: int, opened: Opened, guild: GuildId, ada: str, tmp_path: Path,
    database_url: str,
) -> None:  # fmt: skip
    """Pins what console.live.servers leans on: without it daphne keeps whatever is sent."""
    sessions = [builders.stored_session(guild, title=f"{n} {'x' * 1300}") for n in range(150)]
    with serving(kind, tmp_path, database_url) as server:
        awake = opened(server, api_path(guild), Cookie=ada)

        def move(number: int) -> Event:
            moved = sessions[-1 - number]
            move_session(moved, guild_id=guild, place=Place.FIRST, caller=ADA)
            return awake.next_named("snapshot")

        for number in range(20):  # the process itself grows to its size
            move(number)
        # So many that what the process itself still grows by is little for each.
        stalled = [opened(server, api_path(guild), Cookie=ada) for _ in range(100)]
        for reader in stalled:
            reader.next()
        before = pss_kib(server.process.pid)
        for number in range(20, 60):
            newest = move(number)
        kept_kib = (pss_kib(server.process.pid) - before) / len(stalled)

        assert kept_kib <= limit_kib
        for reader in stalled[:5]:
            while reader.next_named("snapshot").id != newest.id:
                pass


def pss_kib(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    if not rollup.exists():
        pytest.skip(f"memory of a process cannot be read on {os.uname().sysname}")
    lines = rollup.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
