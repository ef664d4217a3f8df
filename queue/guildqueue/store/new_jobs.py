"""New jobs of any number, written by COPY."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.redaction import storable
from guildqueue.store.statements import copy, execute, rows, sole

NO_LABELS = "{}"  # as COPY spells it: the driver takes its time over an empty list
_encode = json.JSONEncoder(allow_nan=False).encode
_SUSPECT = re.compile(r"\\u(?:0000|d[89a-f])")


class SessionPlace(NamedTuple):
    """What a new job takes from its session."""

    priority: int
    held: bool


class KnownJob(NamedTuple):
    """A job that is in the queue already, with its state."""

    job_id: JobId
    state: str


class JobRow(NamedTuple):
    """A job as COPY writes it, column by column; ``payload`` is JSON."""

    id: JobId
    guild_id: GuildId
    session_id: SessionId
    kind: str
    assignee_kind: str
    priority: int
    held: bool
    unmet: int
    payload: str
    labels: list[str] | str
    run_after: datetime | None
    external_id: str | None
    audio_seconds: float | None
    max_attempts: int


class NeedRow(NamedTuple):
    """A dependency as COPY writes it."""

    guild_id: GuildId
    job_id: JobId
    needs_id: JobId


def lock_places(
    guild_id: GuildId, session_ids: Collection[SessionId]
) -> dict[SessionId, SessionPlace]:
    """The places by session, their rows locked; one that is not the guild's is left out."""
    params = {"guild_id": guild_id, "session_ids": sorted(session_ids)}
    return {
        SessionId(found.id): SessionPlace(found.priority, found.is_held)
        for found in rows("place_in_sessions", params)
    }


def find_external(guild_id: GuildId, external_ids: Collection[str]) -> dict[str, KnownJob]:
    """The guild's jobs that have these external ids."""
    if not external_ids:
        return {}
    params = {"guild_id": guild_id, "external_ids": sorted(external_ids)}
    return {
        found.external_id: KnownJob(JobId(found.id), found.state)
        for found in rows("find_external_jobs", params)
    }


def find_needed(guild_id: GuildId, job_ids: Collection[JobId]) -> dict[JobId, KnownJob]:
    """Those of the jobs that are the guild's."""
    if not job_ids:
        return {}
    found = rows("find_needed_jobs", {"guild_id": guild_id, "job_ids": sorted(job_ids)})
    return {JobId(job.id): KnownJob(JobId(job.id), job.state) for job in found}


def draw_ids(n: int) -> list[JobId]:
    """Ids for ``n`` new jobs, ascending."""
    return sorted(sole("draw_job_ids", {"n": n}).ids)


def copy_jobs(jobs: Iterable[JobRow]) -> None:
    """Write the jobs."""
    execute("keep_plans", {})
    copy("copy_jobs", jobs)


def copy_needs(needs: Iterable[NeedRow]) -> None:
    """Write the dependencies, which the jobs' ``unmet`` counts already."""
    copy("copy_needs", needs)


def payload_json(payload: Mapping[str, Any]) -> str:
    """A payload as COPY writes it, made storable where it is not: rarely, so looked for last."""
    try:
        text = _encode(payload)
    except ValueError:  # NaN or infinity
        return _encode(storable(payload))
    return _encode(storable(payload)) if _SUSPECT.search(text) else text
