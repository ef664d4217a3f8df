"""A session's jobs with what only its own page shows."""

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.session_detail import JobDetail
from guildqueue.domain.snapshot import WaitsFor
from guildqueue.store.job_rows import job_from_row
from guildqueue.store.statements import rows


def read_job_details(
    guild_id: GuildId, session_id: SessionId, *, default_cap: int | None
) -> tuple[JobDetail, ...]:
    """The session's jobs, ascending."""
    found = rows(
        "read_session_detail",
        {"guild_id": guild_id, "session_id": session_id, "default_cap": default_cap},
    )
    return tuple(
        JobDetail(
            job=job_from_row(row),
            waits_for=WaitsFor(row.reason) if row.reason else None,
            lease_by=row.lease_by,
            lease_expires_at=row.lease_expires_at,
        )
        for row in found
    )
