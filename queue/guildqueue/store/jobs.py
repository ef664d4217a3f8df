"""Jobs: their creation, dependencies, holds and ends by a person's hand."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Job
from guildqueue.domain.new_session import NewTrack
from guildqueue.store.job_rows import job_from_row, parsed_json
from guildqueue.store.scopes import list_scope
from guildqueue.store.statements import execute, row, rows, sole


class Placement(NamedTuple):
    """What a new job takes from its session."""

    guild_id: GuildId
    session_id: SessionId
    priority: int
    held: bool
    max_attempts: int


class Dependents(NamedTuple):
    """What runs again with a job (``reopened``), and what only waits longer (``waiting``)."""

    reopened: tuple[JobId, ...]
    waiting: tuple[JobId, ...]


class JobInput(NamedTuple):
    """A finished job that another one needs."""

    job_id: JobId
    payload: Mapping[str, Any]
    result: Mapping[str, Any] | None


def insert_tracks(placement: Placement, tracks: Sequence[NewTrack]) -> list[JobId]:
    """One transcribe job a track; ids ascending, in the order of ``tracks``."""
    found = rows(
        "insert_tracks",
        {
            **placement._asdict(),
            "payloads": [json.dumps({"name": track.name, "uri": track.uri}) for track in tracks],
            "audio_seconds": [track.audio_seconds for track in tracks],
        },
    )
    return [JobId(inserted.id) for inserted in found]


def insert_document(placement: Placement, payload: Mapping[str, Any]) -> JobId:
    """The job that puts the session's tracks together."""
    found = sole("insert_document", {**placement._asdict(), "payload": json.dumps(payload)})
    return JobId(found.id)


def insert_needs(guild_id: GuildId, job_id: JobId, needs: Collection[JobId]) -> None:
    """Dependencies of ``job_id``, counted at once. Run under the needs lock."""
    execute("insert_needs", {"guild_id": guild_id, "job_id": job_id, "needs": list(needs)})
    recount_needs(guild_id, [job_id])


def delete_need(guild_id: GuildId, job_ids: Collection[JobId], needs_id: JobId) -> int:
    """How many of the jobs no longer need ``needs_id``. Run under the needs lock."""
    dropped = execute(
        "delete_need", {"guild_id": guild_id, "job_ids": list(job_ids), "needs_id": needs_id}
    )
    recount_needs(guild_id, job_ids)
    return dropped


def recount_needs(guild_id: GuildId, job_ids: Collection[JobId]) -> None:
    """Set ``unmet`` from what is stored. Run under the needs lock."""
    execute("recount_needs", {"guild_id": guild_id, "job_ids": list(job_ids)})


def read_session_jobs(guild_id: GuildId, session_id: SessionId) -> list[Job]:
    """All jobs of a session, ascending."""
    found = rows("read_session_jobs", {"guild_id": guild_id, "session_id": session_id})
    return [job_from_row(found_row) for found_row in found]


def read_job(guild_id: GuildId, job_id: JobId) -> Job | None:
    """One job of the guild."""
    found = row("read_job", {"guild_id": guild_id, "job_id": job_id})
    return job_from_row(found) if found else None


def list_jobs(scope: JobFilter, *, after: JobId | None, limit: int) -> list[Job]:
    """Up to ``limit`` jobs that fit, ascending, with ids above ``after``."""
    params = {**list_scope(scope), "after": after or 0, "limit": limit}
    return [job_from_row(found) for found in rows("list_jobs", params)]


def read_inputs(job_id: JobId) -> list[JobInput]:
    """The done jobs that this one needs, ascending."""
    return [
        JobInput(JobId(found.id), parsed_json(found.payload), parsed_json(found.result))
        for found in rows("read_inputs", {"job_id": job_id})
    ]


def read_dependents(guild_id: GuildId, job_ids: Collection[JobId]) -> Dependents:
    """What is affected when the jobs run again, themselves left out."""
    found = rows("read_dependents", {"guild_id": guild_id, "job_ids": list(job_ids)})
    return Dependents(
        reopened=tuple(JobId(job.id) for job in found if job.is_reopened),
        waiting=tuple(JobId(job.id) for job in found if not job.is_reopened),
    )


def lock_jobs(guild_id: GuildId, job_ids: Collection[JobId]) -> dict[JobId, str]:
    """States by job, read once the rows are locked."""
    found = rows("lock_jobs", {"guild_id": guild_id, "job_ids": list(job_ids)})
    return {JobId(job.id): job.state for job in found}


def lock_outstanding(guild_id: GuildId, session_id: SessionId) -> list[JobId]:
    """The session's outstanding jobs, locked, ascending."""
    found = rows("lock_outstanding", {"guild_id": guild_id, "session_id": session_id})
    return [JobId(job.id) for job in found]


def hold_jobs(guild_id: GuildId, session_id: SessionId, *, held: bool) -> None:
    """Write the session's hold on its locked outstanding jobs."""
    execute("hold_jobs", {"guild_id": guild_id, "session_id": session_id, "held": held})


def cancel_jobs(guild_id: GuildId, job_ids: Collection[JobId]) -> tuple[JobId, ...]:
    """Those of the locked jobs that were outstanding and are cancelled now."""
    found = rows("cancel_jobs", {"guild_id": guild_id, "job_ids": list(job_ids)})
    return tuple(sorted(JobId(job.id) for job in found))


def reopen_jobs(guild_id: GuildId, job_ids: Collection[JobId]) -> tuple[JobId, ...]:
    """Those of the locked jobs that had ended or ran, and are pending now."""
    found = rows("reopen_jobs", {"guild_id": guild_id, "job_ids": list(job_ids)})
    return tuple(sorted(JobId(job.id) for job in found))


def fold_counters(guild_id: GuildId) -> None:
    """Put the guild's counting steps of ended jobs together."""
    execute("fold_counters", {"guild_id": guild_id})


def read_unfolded(n_steps: int) -> list[GuildId]:
    """The guilds with at least ``n_steps`` counting steps."""
    found = rows("read_unfolded", {"n_steps": n_steps})
    return [GuildId(guild.guild_id) for guild in found]
