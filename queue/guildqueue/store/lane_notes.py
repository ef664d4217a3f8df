"""The lane in the database as it is shown and checked; nothing here writes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import KNOWN_KINDS
from guildqueue.domain.lane_note import LaneNote, UnplacedJob
from guildqueue.store.statements import rows


def read_notes(guild_id: GuildId) -> list[LaneNote]:
    """The lane in its order, with who let each job run next."""
    return [
        LaneNote(
            job_id=JobId(found.id),
            session_id=SessionId(found.session_id),
            title=found.title,
            name=found.name or found.kind,
            kind=found.kind,
            state=found.state,
            named=found.bump_named,
            by=found.bumped_by,
            at=found.bumped_at,
            reason=found.bump_reason,
        )
        for found in rows("read_lane_notes", {"guild_id": guild_id})
    ]


def read_unplaced(guild_id: GuildId, *, limit: int) -> list[UnplacedJob]:
    """The first outstanding jobs of kinds that this release never claims."""
    params = {"guild_id": guild_id, "kinds": list(KNOWN_KINDS), "limit": limit}
    return [
        UnplacedJob(
            job_id=JobId(found.id),
            session_id=SessionId(found.session_id),
            title=found.title,
            name=found.name or found.kind,
            kind=found.kind,
            state=found.state,
        )
        for found in rows("read_unplaced_jobs", params)
    ]


def read_members(guild_id: GuildId) -> Sequence[tuple[JobId, bool]]:
    """The lane in its order: each job, and whether it is there by name."""
    return [(note.job_id, note.named) for note in read_notes(guild_id)]


def read_ended_at(guild_id: GuildId, job_ids: Collection[JobId]) -> Mapping[JobId, datetime | None]:
    """When each of the jobs last ended, None for never; one that is gone is left out."""
    found = rows("read_ended_at", {"guild_id": guild_id, "job_ids": list(job_ids)})
    return {JobId(job.id): job.ended_at for job in found}
