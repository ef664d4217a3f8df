"""A process that times an enqueue of many and bare COPYs of the same columns, in turn.

``python -m benchmarks.claims.bulk N ROUNDS`` prints JSON: seconds, by name.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import django

TABLES = """
CREATE TABLE bench_indexed (LIKE guildqueue_job INCLUDING ALL);
CREATE TABLE bench_plain (LIKE guildqueue_job INCLUDING DEFAULTS);
"""
COLUMNS = """(id, guild_id, session_id, kind, assignee_kind, priority, held, unmet, payload, labels,
              run_after, external_id, audio_seconds, max_attempts)"""

# All alike: into pages that are there already, each first write after a checkpoint costs more.
CLEARING = (
    "TRUNCATE guildqueue_job, guildqueue_job_dependency, bench_indexed, bench_plain",
    "CHECKPOINT",
)


def main(n: int, rounds: int) -> None:
    from django.db import connection  # noqa: PLC0415  after Django is set up

    works = _works(n)
    took: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            took[name].append(_seconds(work))
        with connection.cursor() as cursor:
            for text in CLEARING:
                cursor.execute(text)
    print(json.dumps({name: seconds[1:] for name, seconds in took.items()}))


def _works(n: int) -> dict[str, Callable[[], object]]:
    """By name, what to time: each writes ``n`` jobs."""
    from django.db import connection  # noqa: PLC0415

    from guildqueue.domain.ids import GuildId, SessionId  # noqa: PLC0415
    from guildqueue.domain.new_job import NewJob  # noqa: PLC0415
    from guildqueue.services.enqueue import enqueue_jobs  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        cursor.execute("SELECT guild_id, id FROM guildqueue_session ORDER BY id LIMIT 1")
        guild_id, session_id = cursor.fetchone()
    session = SessionId(session_id)
    jobs = [
        NewJob(session_id=session, kind="transcribe", payload={"name": f"person {i}"})
        for i in range(n)
    ]
    first = (guild_id, session_id, "transcribe", "worker", 0, False, 0)
    rows: list[tuple[Any, ...]] = [
        (i, *first, f'{{"name": "person {i}"}}', [], None, None, None, 5) for i in range(n)
    ]
    return {
        "enqueue_jobs": lambda: enqueue_jobs(GuildId(guild_id), jobs=jobs),
        "copy_indexed": lambda: _copy("bench_indexed", rows),
        "copy_plain": lambda: _copy("bench_plain", rows),
    }


def _copy(table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    from django.db import connection  # noqa: PLC0415

    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} {COLUMNS} FROM STDIN") as writing,
    ):
        for row in rows:
            writing.write_row(row)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    django.setup()
    main(int(sys.argv[1]), int(sys.argv[2]))
