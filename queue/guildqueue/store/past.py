"""Moments that are written by hand, and whether there is a past at all."""

from collections.abc import Sequence
from datetime import datetime

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.store.statements import execute, rows, sole


def backdate_session(guild_id: GuildId, session_id: SessionId, created_at: datetime) -> None:
    """The session and all of its jobs came in at that moment."""
    facts = {"guild_id": guild_id, "session_id": session_id, "created_at": created_at}
    execute("backdate_session", facts)
    execute("backdate_session_jobs", facts)


def backdate_jobs(guild_id: GuildId, ended: Sequence[tuple[JobId, datetime, datetime]]) -> None:
    """``(job, begun, ended)`` for jobs that ended; others are left alone."""
    execute(
        "backdate_jobs",
        {
            "guild_id": guild_id,
            "job_ids": [job_id for job_id, _, _ in ended],
            "started_at": [started_at for _, started_at, _ in ended],
            "finished_at": [finished_at for _, _, finished_at in ended],
        },
    )


def lock_emptiness() -> None:
    """Waits until nobody else fills the database; until the transaction's end."""
    rows("lock_emptiness", {})


def is_empty() -> bool:
    """True if there is neither a user nor a guild nor a ledger record."""
    return bool(sole("read_emptiness", {}).is_empty)
