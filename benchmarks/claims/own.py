"""This project's queue under measurement: its filling, its worker, and a bare loop over it."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from benchmarks.claims.server import ROOT, Server, environment, python
from benchmarks.claims.subjects import Queue, Subject

SETTINGS = {"DJANGO_SETTINGS_MODULE": "benchmarks.claims.settings"}
MANAGE = str(ROOT / "manage.py")
# A line for each way our worker takes work: how many jobs a claim, and its command line.
WORKERS: dict[int, Sequence[str]] = {
    count: ("worker", "--kinds", "transcribe", "--batch", str(count)) for count in (1, 10, 100)
}
TARGETS = {1: ">= 0.25", 10: ">= 1.2", 100: ">= 4"}
JOBS_A_SESSION = 10

GUILDS = """
INSERT INTO guildqueue_guild (id, name, running_cap)
SELECT n, 'Bench ' || n, %(cap)s FROM generate_series(1, %(n_guilds)s) AS n
"""
# Numbered by guild in turn, so that the sessions of a guild lie apart, as they do in life.
SESSIONS = """
INSERT INTO guildqueue_session (id, guild_id, title)
SELECT %(first)s + n, n %% %(n_guilds)s + 1, 'Meeting ' || n
  FROM generate_series(0, %(n_sessions)s - 1) AS n
"""
WAITING = """
INSERT INTO guildqueue_job (guild_id, session_id, kind, payload, priority)
SELECT guild_id, id, 'transcribe', jsonb_build_object('name', 'person ' || n),
       id %% %(n_priorities)s
  FROM guildqueue_session, generate_series(1, %(jobs)s) AS n
 WHERE id BETWEEN %(first)s AND %(last)s
 ORDER BY n, id
"""
DONE = """
INSERT INTO guildqueue_job (guild_id, session_id, kind, state, payload, result, finished_at,
                            attempt, token, progress)
SELECT guild_id, id, 'transcribe', 'done', jsonb_build_object('name', 'person ' || n), '{}',
       now() - n * interval '1 second', 1, 1, 1
  FROM guildqueue_session, generate_series(1, %(jobs)s) AS n
 WHERE id BETWEEN %(first)s AND %(last)s
"""
RUNNING = """
INSERT INTO guildqueue_job (guild_id, session_id, kind, state, payload, attempt, token, lease_by,
                            lease_expires_at, started_at)
SELECT guild_id, id, 'transcribe', 'running', '{}', 1, 1, 'somebody', now() + interval '1 day',
       now()
  FROM guildqueue_session WHERE id BETWEEN %(first)s AND %(last)s
 LIMIT %(n)s
"""
# Each guild's own session for what is added while workers run.
FED_SESSIONS = """
INSERT INTO guildqueue_session (guild_id, title)
SELECT id, 'fed' FROM guildqueue_guild
"""
SEQUENCE = "SELECT setval(pg_get_serial_sequence('guildqueue_session', 'id'), %(last)s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a database of ours holds. All guilds have the ``cap``, None for none."""

    waiting: int
    done: int = 0
    guilds: int = 10
    priorities: int = 1
    cap: int | None = 1_000_000
    running: int = 0
    capped_head: int = 0


class OwnQueue(Queue):
    """Filled by SQL before anything was claimed; what comes later goes through the services."""

    __slots__ = ()

    def fill(self, server: Server, database: str, *, waiting: int, done: int) -> None:
        fill(server, database, Shape(waiting=waiting, done=done))


OWN = OwnQueue(
    name="guild queue",
    install=[(MANAGE, "migrate", "--verbosity", "0")],
    settings=SETTINGS,
    insert="",
    finished="",
    waiting="SELECT count(*) FROM guildqueue_job WHERE state = 'pending'",
    enqueuer=("-m", "benchmarks.claims.feed", "--one"),
)


def fill(server: Server, database: str, shape: Shape) -> None:
    """Write the shape into a fresh database, and let it settle."""
    with server.connect(database) as connection:
        connection.execute(GUILDS, {"n_guilds": shape.guilds, "cap": shape.cap})
        done = max(1, shape.done // JOBS_A_SESSION)
        waiting = max(shape.guilds, shape.waiting // JOBS_A_SESSION)
        params = {"n_guilds": shape.guilds, "n_priorities": shape.priorities}
        last = _sessions(connection, params, first=1, n=done)
        if shape.done:
            connection.execute(
                DONE, {**params, "jobs": shape.done // done, "first": 1, "last": last}
            )
        if shape.running:
            connection.execute(RUNNING, {"first": 1, "last": last, "n": shape.running})
        if shape.capped_head:
            last = _capped_head(connection, last, shape.capped_head)
        first, last = last + 1, _sessions(connection, params, first=last + 1, n=waiting)
        jobs = max(1, shape.waiting // waiting)
        connection.execute(WAITING, {**params, "jobs": jobs, "first": first, "last": last})
        connection.execute(SEQUENCE, {"last": last})
        connection.execute(FED_SESSIONS)
    server.settle(database)


def _sessions(connection: Connection[Any], params: dict[str, int], *, first: int, n: int) -> int:
    connection.execute(SESSIONS, {**params, "first": first, "n_sessions": n})
    return first + n - 1


def _capped_head(connection: Connection[Any], last: int, n: int) -> int:
    """Guild 1 at its cap, with ``n`` jobs ahead of everybody's."""
    guild = {"n_guilds": 1, "n_priorities": 1}
    first, last = last + 1, _sessions(connection, guild, first=last + 1, n=n // JOBS_A_SESSION)
    connection.execute("UPDATE guildqueue_guild SET running_cap = 1 WHERE id = 1")
    connection.execute(RUNNING, {"first": first, "last": first, "n": 1})
    connection.execute(WAITING, {**guild, "jobs": JOBS_A_SESSION, "first": first, "last": last})
    return last


def worker(count: int) -> Subject:
    """Our own worker process as an installation runs it."""
    return Subject(
        name=f"guild queue x{count}",
        queue=OWN,
        words=(MANAGE, *WORKERS[count]),
        settings=SETTINGS,
        target=TARGETS.get(count, ""),
    )


def loop(count: int) -> Subject:
    """A bare loop of claims of ``count`` jobs and a completion each: the store's part alone."""
    return Subject(
        name=f"guild queue, bare loop x{count}",
        queue=OWN,
        words=("-m", "benchmarks.claims.loop", str(count)),
        settings=SETTINGS,
    )


def turnover(count: int) -> Subject:
    """The same where each claim completes what the one before it gave, as our worker does it."""
    return Subject(
        name=f"guild queue, bare turnover x{count}",
        queue=OWN,
        words=("-m", "benchmarks.claims.loop", "--turnover", str(count)),
        settings=SETTINGS,
    )


@contextmanager
def feeder(server: Server, database: str) -> Iterator["Feeder"]:
    """A process that enqueues through the service, guild after guild."""
    with subprocess.Popen(
        python("-m", "benchmarks.claims.feed"),
        env=environment(server.url(database), SETTINGS),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        feeding = Feeder(process)
        feeding.answer()
        try:
            yield feeding
        finally:
            process.stdin.close()


class Feeder:
    """Asked for so many jobs, it answers once they are committed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def feed(self, n: int) -> None:
        assert self._process.stdin is not None
        print(n, file=self._process.stdin, flush=True)
        self.answer()

    def answer(self) -> None:
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("what enqueues has ended")
