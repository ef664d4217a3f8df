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
        payload=parsed_json(row.payload),
        result=parsed_json(row.result),
        error=row.error,
        audio_seconds=row.audio_seconds,
        run_after=row.run_after,
        external_id=row.external_id,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        needs=tuple(sorted(JobId(needs) for needs in row.needs)),
    )


def lease_from_row(row: Any) -> Lease:
    """The lease of a row that a claim returned."""
    return Lease(job=job_from_row(row), token=row.token, expires_at=row.lease_expires_at)
