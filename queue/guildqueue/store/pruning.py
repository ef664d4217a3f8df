"""Old finished sessions: which there are, and taking them away with all that is theirs."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.store.statements import execute, rows, sole


class OldSession(NamedTuple):
    """A session that may go."""

    session_id: SessionId
    n_jobs: int


class OldJob(NamedTuple):
    """A locked job of one; ``path`` is the file that its result names."""

    job_id: JobId
    session_id: SessionId
    path: str | None


def read_age_limit(days: int) -> datetime:
    """The moment that lies so many days back."""
    moment: datetime = sole("read_age_limit", {"days": days}).ended_before
    return moment


def read_old_sessions(
    guild_id: GuildId, *, ended_before: datetime, after: int, limit: int
) -> list[OldSession]:
    """Up to ``limit`` sessions above ``after``, ascending. Cost: all that ended before then."""
    params = {
        "guild_id": guild_id,
        "ended_before": ended_before,
        "after": after,
        "limit": limit,
    }
    found = rows("read_old_sessions", params)
    return [OldSession(SessionId(session.id), session.n_jobs) for session in found]


def lock_old_jobs(
    guild_id: GuildId, session_ids: Sequence[SessionId], *, ended_before: datetime
) -> list[OldJob]:
    """The jobs, ascending, of those of the sessions that may go and of which nothing is locked.

    They and their sessions are locked until the end of the transaction. Run under the shared
    needs lock.
    """
    scope = {"guild_id": guild_id, "ended_before": ended_before}
    locked = rows("lock_old_sessions", {**scope, "session_ids": list(session_ids)})
    params = {**scope, "session_ids": [session.id for session in locked]}
    jobs = rows("lock_old_jobs", params)
    confirmed = rows("confirm_old_sessions", {**params, "job_ids": [job.id for job in jobs]})
    kept = {session.id for session in confirmed}
    return [
        OldJob(JobId(job.id), SessionId(job.session_id), job.path)
        for job in jobs
        if job.session_id in kept
    ]


def delete_old(guild_id: GuildId, jobs: Sequence[OldJob]) -> None:
    """Take the jobs away, and their sessions with them, all of them locked."""
    params = {
        "guild_id": guild_id,
        "job_ids": [job.job_id for job in jobs],
        "session_ids": sorted({job.session_id for job in jobs}),
    }
    execute("delete_old_needs", params)
    execute("delete_old_jobs", params)
    execute("delete_old_participants", params)
    execute("delete_old_sessions", params)
