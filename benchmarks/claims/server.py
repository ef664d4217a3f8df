"""The one PostgreSQL of a run, its databases, and the limit that everything is measured against."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from console.embedded import server

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_DATABASE = "bench_limit"
# One prepared single-row UPDATE by primary key, one commit: what a queue can never beat a job.
LIMIT_SCRIPT = r"""\set aid random(1, 100000 * :scale)
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
"""
_TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)


def parse_tps(output: str) -> float:
    """Transactions a second, of what pgbench printed. Raises ValueError if it printed none."""
    found = _TPS.search(output)
    if found is None:
        raise ValueError(f"pgbench gave no rate: {output[-500:]}")
    return float(found[1])


@dataclass(frozen=True, slots=True)
class Server:
    """The embedded server of ``folder``, with the settings that the product ships."""

    folder: Path

    @property
    def _info(self) -> server.ConnectionInfo:
        return server.ensure_running(self.folder)

    def url(self, database: str) -> str:
        return self._info.url(database)

    @contextmanager
    def connect(self, database: str, **options: Any) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self.url(database), autocommit=True, **options) as connection:
            yield connection

    def create(self, database: str) -> None:
        """An empty database of that name, in place of any."""
        with self.connect("postgres") as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{database}"')

    def drop(self, database: str) -> None:
        with self.connect("postgres") as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    def settle(self, database: str) -> None:
        """After much was written: statistics and a visibility map, and a checkpoint behind it."""
        with self.connect(database) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")

    def prepare_limit(self) -> None:
        self.create(LIMIT_DATABASE)
        self._pgbench("-i", "-q", "-s", "1")
        self.limit(clients=1, seconds=1)

    def limit(self, *, clients: int, seconds: float) -> float:
        """Updates a second of that many clients."""
        script = self.folder / "limit.sql"
        script.write_text(LIMIT_SCRIPT)
        threads = min(clients, os.cpu_count() or 1)
        words = ["-n", "-M", "prepared", "-c", str(clients), "-j", str(threads)]
        words += ["-T", str(max(1, round(seconds))), "-f", str(script)]
        return parse_tps(self._pgbench(*words))

    def restart(self, **settings: str) -> None:
        """With ALTER SYSTEM's ``settings``; for what needs a restart to be loaded."""
        with self.connect("postgres") as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        server.leave(self.folder)
        server.ensure_running(self.folder)

    def _pgbench(self, *words: str) -> str:
        info = self._info
        place = ["-h", str(info.socket_dir), "-p", str(info.port), "-U", info.user]
        done = subprocess.run(
            [str(server.program("pgbench")), *place, *words, LIMIT_DATABASE],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


def python(*words: str) -> list[str]:
    """A command line of this interpreter."""
    return [sys.executable, *words]


def environment(url: str, extra: Mapping[str, str]) -> dict[str, str]:
    """What a worker under measurement finds; nothing of the caller's own installation."""
    ours = ("DATABASE_", "GUILDQUEUE_", "QUEUE_", "DJANGO_", "PG", "PROCRASTINATE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    paths = os.pathsep.join([str(ROOT), str(ROOT / "queue")])
    return kept | {"DATABASE_URL": url, "PYTHONPATH": paths} | dict(extra)
