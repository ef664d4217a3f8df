"""Rows of the job table as domain values."""

import json
from typing import Any

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Job, Lease


def parsed_json(value: Any) -> Any:
    """A jsonb column's value: the driver hands it over as text where Django set it up so."""
    return json.loads(value) if isinstance(value, str) else value


def job_from_row(row: Any) -> Job:
    """The job of a row with the part ``job_columns`` and its ``needs``."""
    return _job(row, payload=parsed_json(row.payload), result=parsed_json(row.result))


def lease_from_row(row: Any) -> Lease:
    """The lease of a row that a claim returned in the binary format, its jsonb parsed."""
    job = _job(row, payload=row.payload, result=row.result)
    return Lease(job=job, token=row.token, expires_at=row.lease_expires_at)


def _job(row: Any, *, payload: Any, result: Any) -> Job:
    return Job(
        id=JobId(row.id),
        guild_id=GuildId(row.guild_id),
        session_id=SessionId(row.session_id),
        kind=row.kind,
        assignee_kind=row.assignee_kind,
        state=row.state,
        priority=row.priority,
        bump_seq=row.bump_seq,
        bump_named=row.bump_named,
        unmet=row.unmet,
        held=row.held,
        attempt=row.attempt,
        max_attempts=row.max_attempts,
        progress=row.progress,
        labels=tuple(row.labels),
        payload=payload,
        result=result,
        error=row.error,
        audio_seconds=row.audio_seconds,
        run_after=row.run_after,
        external_id=row.external_id,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        needs=tuple(sorted(JobId(needs) for needs in row.needs)),
    )
