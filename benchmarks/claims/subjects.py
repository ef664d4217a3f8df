"""What is measured: each queue with its schema, its filling and its workers' command lines."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString

from psycopg import Connection

from benchmarks.claims.server import Server, environment, python

DJANGO_TASKS = {"DJANGO_SETTINGS_MODULE": "benchmarks.claims.peers.django_tasks_settings"}
PROCRASTINATE = ("-m", "procrastinate", "--app", "benchmarks.claims.peers.procrastinate_app.app")


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue's tables. ``insert`` writes %(n)s waiting jobs, ``finished`` as many done ones."""

    name: str
    install: Sequence[Sequence[str]]
    settings: Mapping[str, str] = field(default_factory=dict)
    insert: LiteralString
    finished: LiteralString
    waiting: LiteralString
    enqueuer: Sequence[str]

    @property
    def database(self) -> str:
        """What its database is called where it needs but one."""
        return "bench_" + re.sub(r"\W", "_", self.name)

    def create(self, server: Server, database: str) -> None:
        """An empty database with the queue's own schema, made by its own commands."""
        server.create(database)
        for words in self.install:
            self.command(server, database, words)

    def command(self, server: Server, database: str, words: Sequence[str]) -> None:
        done = subprocess.run(
            python(*words),
            check=False,
            env=environment(server.url(database), self.own_environment(server, database)),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}")

    def own_environment(self, server: Server, database: str) -> dict[str, str]:
        """What its processes find in their environment."""
        return {**self.settings, "PGDSN": server.url(database)}

    def fill(self, server: Server, database: str, *, waiting: int, done: int) -> None:
        with server.connect(database) as connection:
            self.write(connection, self.finished, done)
            self.write(connection, self.insert, waiting)
        server.settle(database)

    @staticmethod
    def write(connection: Connection[Any], text: LiteralString, n: int) -> None:
        """Write ``n`` jobs without the queue's triggers, which would charge it for our filling."""
        if n:
            with connection.transaction():
                connection.execute("SET LOCAL session_replication_role = replica")
                connection.execute(text, {"n": n})


PROCRASTINATE_QUEUE = Queue(
    name="procrastinate",
    install=[(*PROCRASTINATE, "schema", "--apply")],
    insert="""
        INSERT INTO procrastinate_jobs (queue_name, task_name)
        SELECT 'default', 'noop' FROM generate_series(1, %(n)s)
    """,
    finished="""
        INSERT INTO procrastinate_jobs (queue_name, task_name, status, attempts)
        SELECT 'default', 'noop', 'succeeded', 1 FROM generate_series(1, %(n)s)
    """,
    waiting="SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'",
    enqueuer=("-m", "benchmarks.claims.peers.procrastinate_app"),
)
PGQUEUER_QUEUE = Queue(
    name="pgqueuer",
    # Its vacuum settings are a command of their own, which its documentation recommends.
    install=[("-m", "pgqueuer", "install"), ("-m", "pgqueuer", "autovac")],
    insert="""
        INSERT INTO pgqueuer (priority, status, entrypoint)
        SELECT 0, 'queued', 'noop' FROM generate_series(1, %(n)s)
    """,
    # A done job leaves the queue for the log.
    finished="""
        INSERT INTO pgqueuer_log (job_id, status, priority, entrypoint, aggregated)
        SELECT -n, 'successful', 0, 'noop', true FROM generate_series(1, %(n)s) AS n
    """,
    waiting="SELECT count(*) FROM pgqueuer WHERE status = 'queued'",
    enqueuer=("-m", "benchmarks.claims.peers.pgqueuer_app"),
)
DJANGO_TASKS_QUEUE = Queue(
    name="django-tasks-db",
    install=[("-m", "django", "migrate", "--verbosity", "0")],
    settings=DJANGO_TASKS,
    insert="""
        INSERT INTO django_tasks_database_dbtaskresult
               (id, status, enqueued_at, args_kwargs, priority, task_path, worker_ids, queue_name,
                backend_name, run_after, exception_class_path, traceback)
        SELECT gen_random_uuid(), 'READY', clock_timestamp(), '{"args": [], "kwargs": {}}', 0,
               'benchmarks.claims.peers.django_tasks_jobs.noop', '[]', 'default', 'default',
               '9999-01-01 00:00+00', '', ''
          FROM generate_series(1, %(n)s)
    """,
    finished="""
        INSERT INTO django_tasks_database_dbtaskresult
               (id, status, enqueued_at, started_at, finished_at, args_kwargs, priority, task_path,
                worker_ids, queue_name, backend_name, run_after, return_value,
                exception_class_path, traceback)
        SELECT gen_random_uuid(), 'SUCCESSFUL', now(), now(), now(),
               '{"args": [], "kwargs": {}}', 0, 'benchmarks.claims.peers.django_tasks_jobs.noop',
               '["w"]', 'default', 'default', '9999-01-01 00:00+00', 'null', '', ''
          FROM generate_series(1, %(n)s)
    """,
    waiting="SELECT count(*) FROM django_tasks_database_dbtaskresult WHERE status = 'READY'",
    enqueuer=("-m", "benchmarks.claims.peers.django_tasks_jobs"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One way to work a queue: a command line that is started once a worker."""

    name: str
    queue: Queue
    words: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    database: str = ""
    target: str = ""

    def on(self, database: str) -> "Subject":
        return replace(self, database=database)

    def environment(self, server: Server) -> dict[str, str]:
        extra = {**self.queue.own_environment(server, self.database), **self.settings}
        return environment(server.url(self.database), extra)


PROCRASTINATE_WORKER = Subject(
    name="procrastinate", queue=PROCRASTINATE_QUEUE, words=(*PROCRASTINATE, "worker")
)
DJANGO_TASKS_WORKER = Subject(
    name="django-tasks-db",
    queue=DJANGO_TASKS_QUEUE,
    words=("-m", "django", "db_worker", "--no-startup-delay"),
)


def pgqueuer_worker(batch: int, driver: str) -> Subject:
    """pgqueuer's own worker, taking ``batch`` jobs at a time."""
    return Subject(
        name=f"pgqueuer/{driver} x{batch}",
        queue=PGQUEUER_QUEUE,
        words=("-m", "benchmarks.claims.peers.pgqueuer_app", driver, str(batch)),
    )


def peers() -> list[Subject]:
    """All of them. pgqueuer on both of its drivers: its own figures are given for each."""
    drivers = os.environ.get("BENCH_PGQUEUER_DRIVERS", "psycopg,asyncpg").split(",")
    return [
        PROCRASTINATE_WORKER,
        DJANGO_TASKS_WORKER,
        *(pgqueuer_worker(batch, driver) for driver in drivers for batch in (1, 10, 100)),
    ]
