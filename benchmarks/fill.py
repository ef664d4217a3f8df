"""Guilds of a given size, written by plain SQL, and how a figure is taken."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from guildqueue.domain.ids import GuildId

INSERT_SESSIONS = """
INSERT INTO guildqueue_session (guild_id, title, started_at)
SELECT %(guild_id)s, 'Meeting ' || n, now() - n * interval '1 minute'
  FROM generate_series(1, %(n_sessions)s) AS n
"""
INSERT_PEOPLE = """
INSERT INTO guildqueue_participant (guild_id, session_id, name)
SELECT guild_id, id, 'person ' || n
  FROM guildqueue_session, generate_series(1, %(n_jobs)s) AS n
 WHERE guild_id = %(guild_id)s
"""
INSERT_JOBS = """
INSERT INTO guildqueue_job (guild_id, session_id, kind, payload, audio_seconds)
SELECT guild_id, id, 'transcribe', jsonb_build_object('name', 'person ' || n), 60 * n
  FROM guildqueue_session, generate_series(1, %(n_jobs)s) AS n
 WHERE guild_id = %(guild_id)s
 ORDER BY id, n
"""


def run_sql(text: str, params: Any = None) -> None:
    """One statement, committed."""
    with connection.cursor() as cursor:
        cursor.execute(text, params)


def fill_guild(guild_id: GuildId, *, n_sessions: int, n_jobs: int) -> list[int]:
    """A guild of that many sessions of that many tracks each; the sessions' ids, ascending."""
    params = {"guild_id": guild_id, "n_sessions": n_sessions, "n_jobs": n_jobs}
    run_sql("INSERT INTO guildqueue_guild (id, name) VALUES (%s, 'Bench')", [guild_id])
    for text in (INSERT_SESSIONS, INSERT_PEOPLE, INSERT_JOBS, "VACUUM ANALYZE", "CHECKPOINT"):
        run_sql(text, params if "%(" in text else None)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM guildqueue_session WHERE guild_id = %s ORDER BY id", [guild_id]
        )
        return [row[0] for row in cursor.fetchall()]


def milliseconds(work: Callable[[], object]) -> float:
    """How long ``work`` took, by the monotonic clock."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def spread(figures: Sequence[float]) -> str:
    """Median and range, in the unit given."""
    return f"{statistics.median(figures):8.1f} ({min(figures):.1f} to {max(figures):.1f})"
