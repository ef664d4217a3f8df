"""The embedded server comes back after a kill, whatever was left lying about."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from console.embedded import server
from console.embedded.cluster import Cluster
from console.embedded.server import ConnectionInfo
from tests.db.embedded_users import is_running, wait_until


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    server.leave(place)


def started(data_dir: Path) -> ConnectionInfo:
    return server.ensure_running(data_dir, durable=False)


def answers(info: ConnectionInfo) -> bool:
    with psycopg.connect(info.url()) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def kill_server(info: ConnectionInfo) -> None:
    os.kill(info.pid, signal.SIGKILL)
    assert wait_until(lambda: not is_running(info.pid))


def test_a_killed_server_is_started_by_the_next_use_in_the_same_process(data_dir: Path) -> None:
    first = started(data_dir)
    with psycopg.connect(first.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
    kill_server(first)

    second = started(data_dir)

    assert second.pid != first.pid
    with psycopg.connect(second.url()) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_a_server_killed_with_an_open_connection_is_started_again(data_dir: Path) -> None:
    first = started(data_dir)
    connection = psycopg.connect(first.url(), autocommit=True)
    connection.execute("SELECT 1")
    kill_server(first)

    assert answers(started(data_dir))
    connection.close()


def empty_file(pid_file: Path) -> None:
    pid_file.write_text("")


def half_written_file(pid_file: Path) -> None:
    pid_file.write_text("\n".join(pid_file.read_text().splitlines()[:2]))


def no_number(pid_file: Path) -> None:
    pid_file.write_text("\0\0\0\0garbage\n")


@pytest.mark.parametrize("damage", [empty_file, half_written_file, no_number])
def test_a_damaged_pid_file_does_not_stop_a_start(
    data_dir: Path, damage: Callable[[Path], None]
) -> None:
    kill_server(started(data_dir))
    damage(data_dir / "postgres" / "postmaster.pid")

    assert answers(server.recheck(data_dir))


@pytest.mark.parametrize("is_zombie", [False, True])
def test_a_pid_that_is_another_programs_now_does_not_stop_a_start(
    data_dir: Path, *, is_zombie: bool
) -> None:
    kill_server(started(data_dir))
    other = subprocess.Popen(["sleep", "60"])
    if is_zombie:
        other.kill()
        assert wait_until(lambda: not is_running(other.pid))
    rewrite_pid(data_dir / "postgres" / "postmaster.pid", other.pid)
    rewrite_pid(data_dir / "socket" / ".s.PGSQL.5432.lock", other.pid)

    try:
        assert answers(server.recheck(data_dir))
        assert is_zombie or other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_socket_that_was_swept_away_is_made_again(data_dir: Path) -> None:
    first = started(data_dir)
    first.socket.unlink()

    assert answers(server.recheck(data_dir))


def test_a_crash_while_the_cluster_is_made_leaves_nothing_in_the_way(data_dir: Path) -> None:
    (data_dir / "postgres.new" / "base").mkdir(parents=True)
    (data_dir / "postgres.new" / "PG_VERSION").write_text("18\n")

    assert answers(started(data_dir))


@pytest.mark.parametrize("name", ["with space", 'quo\'te "and" $HOME `x`', "a,b", "ünï", "l" * 150])
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    data_dir = tmp_path / name / "data"
    try:
        info = started(data_dir)
        assert answers(info)
        assert info.socket_dir.stat().st_mode & 0o777 == 0o700
    finally:
        server.leave(data_dir)
    assert info.socket_dir.is_relative_to(data_dir) or wait_until(
        lambda: not info.socket_dir.exists()
    )


def test_a_stranger_cannot_put_a_folder_where_the_socket_goes(tmp_path: Path) -> None:
    data_dir = tmp_path / ("l" * 150)
    try:
        first = started(data_dir)
        kill_server(first)
        first.socket_dir.chmod(0o777)

        second = started(data_dir)

        assert second.socket_dir != first.socket_dir
        assert answers(second)
        shutil.rmtree(first.socket_dir)
    finally:
        server.leave(data_dir)


def test_a_server_that_cannot_start_says_why(data_dir: Path) -> None:
    started(data_dir)
    server.leave(data_dir)
    with (data_dir / "postgres" / "postgresql.conf").open("a") as conf:
        conf.write("shared_buffers = nonsense\n")
    cluster = Cluster(data_dir)

    with pytest.raises(server.EmbeddedServerError, match="shared_buffers"):
        cluster.start(data_dir / "socket", patience_s=0)


def test_a_moved_data_directory_works_at_its_new_place(tmp_path: Path) -> None:
    started(tmp_path / "old")
    server.leave(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")

    try:
        assert answers(started(tmp_path / "new"))
    finally:
        server.leave(tmp_path / "new")


def rewrite_pid(file: Path, pid: int) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join([str(pid), *lines[1:], ""]))
