"""What tests ask the tables themselves: row versions, numbers, and states put there by hand."""

import re
from collections.abc import Collection
from typing import Any

from django.db import connection

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.store.statements import load_statements
from tests.db.races import query

# Not the marks: they say again what the jobs say, and a look may write them.
TABLES = (
    "guildqueue_guild",
    "guildqueue_session",
    "guildqueue_participant",
    "guildqueue_job",
    "guildqueue_job_dependency",
    "guildqueue_guild_count",
    "guildqueue_administrator",
    "guildqueue_queue_event",
    "guildqueue_claim_cursor",
    "guildqueue_api_token",
)

RowVersions = dict[str, frozenset[tuple[str, str]]]


def row_versions() -> RowVersions:
    """Each row's version by table: equal before and after means that no row was written."""
    statement = "SELECT ctid::text, xmin::text FROM {}"
    return {table: frozenset(query(statement.format(table))) for table in TABLES}


def wrote_anything() -> bool:
    """Whether the open transaction has written or locked a single row so far."""
    return query("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")[0][0] is True


def numbers(guild_id: GuildId) -> dict[SessionId, int]:
    """The number of each session with something outstanding, in claim order.

    Fails where the outstanding jobs of a session carry more than one.
    """
    found = query(
        "SELECT session_id, min(priority), max(priority) FROM guildqueue_job"
        " WHERE guild_id = %s AND state IN ('pending', 'running')"
        " GROUP BY session_id ORDER BY min(priority), min(id)",
        [guild_id],
    )
    assert all(low == high for _, low, high in found)
    return {session_id: low for session_id, low, _ in found}


def line(guild_id: GuildId) -> list[SessionId]:
    """The sessions outside the lane in the order of their sort keys."""
    return list(numbers(guild_id))


def set_number(session_id: SessionId, priority: int) -> None:
    """The number that an operator wrote by hand."""
    write("UPDATE guildqueue_job SET priority = %s WHERE session_id = %s", priority, session_id)


def put_in_lane(job_ids: Collection[JobId]) -> None:
    """The jobs run next, in ascending id."""
    for place, job_id in enumerate(sorted(job_ids), 1):
        write("UPDATE guildqueue_job SET bump_seq = %s WHERE id = %s", place, job_id)


def write(statement: str, *params: Any) -> int:
    """How many rows a statement of the test's own wrote."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return int(cursor.rowcount)


def prepared_text(name: str) -> tuple[str, list[str]]:
    """The named statement as PREPARE takes it, and its parameters in their order."""
    params: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found[1] not in params:
            params.append(found[1])
        return f"${params.index(found[1]) + 1}"

    return re.sub(r"%\((\w+)\)s", numbered, load_statements()[name]), params


def is_preparable(text: str) -> bool:
    """Whether PREPARE takes the statement."""
    return "FROM STDIN" not in text and "SET CONSTRAINTS" not in text
