"""Hearing, for tests, what is said to whoever waits for work; and processes that say it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from guildqueue.services.wake import close_waker
from guildqueue.store.wakeups import CHANNEL
from tests.db.worker_process import PROJECT

Count = Callable[[], int]
LISTENING = "guildqueue listen"
SAYING = "guildqueue wake"


@contextmanager
def wake_ups(database_url: str) -> Iterator[Count]:
    """How many were said since it was asked last, those of this process that were due included."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")

        def said() -> int:
            close_waker()
            connection.execute("SELECT pg_notify(%s, 'barrier')", [CHANNEL])
            n_said = 0
            for notice in connection.notifies(timeout=10):
                if notice.payload == "barrier":
                    return n_said
                n_said += notice.payload == ""
            raise AssertionError("the barrier was never heard")

        yield said


def backends(database_url: str, application_name: str) -> list[int]:
    """The server's processes for connections of that name, of this database."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE application_name = %s AND datname = current_database() ORDER BY pid",
            [application_name],
        )
        return [pid for (pid,) in found]


def end_backends(database_url: str, application_name: str) -> list[int]:
    """End those connections from the server's side, and say which they were."""
    pids = backends(database_url, application_name)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for pid in pids:
            connection.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    return pids


def elsewhere(database_url: str, *words: object, **environment: str) -> str:
    """What ``manage.py WORDS…`` prints in a process of its own, which must end well."""
    ours = {"DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "console.settings"}
    ended = subprocess.run(
        [sys.executable, "manage.py", *map(str, words)],
        cwd=PROJECT,
        env=os.environ | ours | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
