"""The embedded server is shared by the processes that use it, and ends with the last one."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from console.embedded import server
from tests.db.embedded_users import (
    NOBODY,
    PROJECT,
    User,
    is_running,
    python_for_nobody,
    wait_until,
)

KILLS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None]


@contextmanager
def in_use(data_dir: Path) -> Iterator[server.ConnectionInfo]:
    """This very process as a user."""
    try:
        yield server.ensure_running(data_dir, durable=False)
    finally:
        server.leave(data_dir)


def test_the_first_use_makes_a_server_that_answers(tmp_path: Path) -> None:
    with in_use(tmp_path / "data") as info, psycopg.connect(info.url()) as connection:
        row = connection.execute(
            "SELECT current_database(), current_setting('listen_addresses'),"
            " current_setting('TimeZone'), current_setting('server_encoding'),"
            " current_setting('lc_messages')"
        ).fetchone()

    assert row == ("guildqueue", "", "UTC", "UTF8", "C")
    assert not is_running(info.pid)


def test_what_was_committed_is_there_after_the_next_start(tmp_path: Path) -> None:
    with in_use(tmp_path) as info, psycopg.connect(info.url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS n")

    with in_use(tmp_path) as info, psycopg.connect(info.url()) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (7,)


def test_processes_that_start_at_once_share_one_server(tmp_path: Path) -> None:
    users = [User(tmp_path / "data") for _ in range(4)]

    pids = {user.server_pid() for user in users}

    assert len(pids) == 1
    for user in users:
        user.end(signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_running, pids)))


@pytest.mark.parametrize("number", KILLS)
def test_the_server_outlives_one_user_and_ends_with_the_last(
    tmp_path: Path, number: int | None
) -> None:
    first, second = User(tmp_path), User(tmp_path)
    pid = first.server_pid()
    assert second.server_pid() == pid

    first.end(number)
    with in_use(tmp_path) as info:
        assert info.pid == pid
    assert is_running(pid)

    second.end(number)
    assert wait_until(lambda: not is_running(pid))


def test_ctrl_c_in_the_terminal_of_one_user_leaves_the_server_to_the_others(
    tmp_path: Path,
) -> None:
    first, second = User(tmp_path), User(tmp_path)
    pid = first.server_pid()
    second.server_pid()

    os.killpg(first.process.pid, signal.SIGINT)
    first.end()

    with in_use(tmp_path) as info, psycopg.connect(info.url()) as connection:
        assert info.pid == pid
        assert connection.execute("SELECT 1").fetchone() == (1,)
    second.end()


def test_killing_all_users_and_starting_again_works_round_after_round(tmp_path: Path) -> None:
    for _ in range(5):
        users = [User(tmp_path), User(tmp_path)]
        pids = {user.server_pid() for user in users}
        assert len(pids) == 1
        for user in users:
            user.end(signal.SIGKILL)

    assert wait_until(lambda: not any(map(is_running, pids)))


def test_a_killed_watcher_is_replaced_by_the_next_user(tmp_path: Path) -> None:
    first = User(tmp_path)
    pid = first.server_pid()
    watcher = watcher_of(tmp_path)
    assert watcher is not None
    watcher.kill()
    assert wait_until(lambda: watcher_of(tmp_path) is None)

    second = User(tmp_path)
    assert second.server_pid() == pid
    first.end(signal.SIGKILL)
    second.end(signal.SIGKILL)

    assert wait_until(lambda: not is_running(pid))


def test_nothing_above_the_data_directory_changes_its_mode(tmp_path: Path) -> None:
    parent = tmp_path / "private"
    parent.mkdir(mode=0o700)
    (parent / "inner").mkdir(mode=0o750)

    with in_use(parent / "inner" / "data"):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (parent, parent / "inner")]

    assert modes == [0o700, 0o750]


@pytest.mark.skipif(os.geteuid() != 0, reason="runs as an ordinary account anyway")
def test_an_ordinary_account_has_a_server_too(tmp_path: Path) -> None:
    python = python_for_nobody()
    if python is None:
        pytest.skip("Python or the project is closed to other accounts")
    # Not tmp_path: pytest's folders are root's alone.
    place = Path(tempfile.mkdtemp())
    os.chown(place, 65534, 65534)

    user = User(place / "data", python, **NOBODY)
    pid = user.server_pid()

    assert psutil.Process(pid).uids().real == 65534
    user.end(signal.SIGKILL)
    assert wait_until(lambda: not is_running(pid))
    shutil.rmtree(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="runs as an ordinary account anyway")
def test_root_runs_the_server_as_another_account(tmp_path: Path) -> None:
    with in_use(tmp_path) as info:
        assert psutil.Process(info.pid).uids().effective == (tmp_path / "postgres").stat().st_uid
        assert psutil.Process(info.pid).uids().effective != 0


def test_commands_that_need_no_database_start_none(tmp_path: Path) -> None:
    environment = os.environ | {"GUILDQUEUE_DATA_DIR": str(tmp_path)}
    environment.pop("DATABASE_URL", None)
    for words in (["check"], ["--help"], ["migrate", "--help"]):
        subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=PROJECT,
            env=environment | {"DJANGO_SETTINGS_MODULE": "console.settings"},
            check=True,
            capture_output=True,
        )

    assert not (tmp_path / "postgres").exists()


def watcher_of(data_dir: Path) -> psutil.Process | None:
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "console.embedded.watcher" in words and str(data_dir) in words:
            return process
    return None
