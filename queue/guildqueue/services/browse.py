"""Reading for every front end: guilds, sessions, jobs and the ledger."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from django.conf import settings

from guildqueue.domain.errors import GuildNotFound, JobNotFound, SessionNotFound
from guildqueue.domain.guild import GuildRecord, GuildSummary
from guildqueue.domain.ids import EventId, GuildId, JobId, SessionId, UserId
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.session_detail import JobDetail, SessionDetail
from guildqueue.domain.version import version_of
from guildqueue.store import details, guilds, jobs, leases, ledger, sessions, snapshots
from guildqueue.store.jobs import JobInput

EVENTS_A_PAGE = 50


class GuildList(NamedTuple):
    """A user's guilds by name; ``version`` is as a snapshot's."""

    version: str
    guilds: list[GuildSummary]


class History(NamedTuple):
    """A guild's newest records, newest first; ``version`` is as a snapshot's, but of its own."""

    version: str
    records: list[LedgerRecord]


def guild_list(user_id: UserId) -> list[GuildSummary]:
    """The guilds that a user administers, by name."""
    return guild_lists([user_id])[user_id].guilds


def guild_lists(user_ids: Collection[UserId]) -> dict[UserId, GuildList]:
    """Each user's guilds by name, in one read whatever the number of users."""
    return {
        user_id: GuildList(version_of(listed.number, listed.guilds), listed.guilds)
        for user_id, listed in guilds.read_guild_lists(user_ids).items()
    }


def guild_record(guild_id: GuildId) -> GuildRecord:
    """A guild's own record. Raises GuildNotFound."""
    guild = guilds.read_guild(guild_id)
    if guild is None:
        raise GuildNotFound(guild_id)
    return guild


def session_guild(session_id: SessionId) -> GuildId:
    """The guild that a session belongs to. Raises SessionNotFound."""
    return sessions.session_guild(session_id)


def session_title(session_id: SessionId, *, guild_id: GuildId) -> str:
    """A session's title. Raises SessionNotFound."""
    titles = sessions.read_titles(guild_id, [session_id])
    if session_id not in titles:
        raise SessionNotFound(session_id)
    return titles[session_id]


def job_guild(job_id: JobId) -> GuildId:
    """The guild that a job belongs to. Raises JobNotFound."""
    return leases.job_guild(job_id)


def job_detail(job_id: JobId) -> JobDetail:
    """One job with why it waits and who leases it. Raises JobNotFound."""
    guild_id = leases.job_guild(job_id)
    job = jobs.read_job(guild_id, job_id)
    if job is None:
        raise JobNotFound(job_id)
    of_session = details.read_job_details(
        guild_id, job.session_id, default_cap=settings.QUEUE_RUNNING_CAP
    )
    return next(detail for detail in of_session if detail.job.id == job_id)


def session_detail(session_id: SessionId) -> SessionDetail:
    """One meeting in full. Raises SessionNotFound."""
    guild_id = sessions.session_guild(session_id)
    number, snapshot = snapshots.read_snapshot(
        guild_id,
        only=session_id,
        upto=snapshots.Extent(limit=1, n_finished=1),
        default_cap=settings.QUEUE_RUNNING_CAP,
    )
    entries = (*snapshot.sessions, *snapshot.finished)
    if not entries:
        raise SessionNotFound(session_id)
    detail = SessionDetail(
        guild=guild_record(guild_id),
        entry=entries[0],
        external_id=sessions.read_external_id(guild_id, session_id),
        participants=sessions.read_participants(guild_id, session_id),
        jobs=details.read_job_details(guild_id, session_id, default_cap=settings.QUEUE_RUNNING_CAP),
    )
    # A lease that was extended shows nowhere.
    shown = [replace(job, lease_expires_at=None) for job in detail.jobs]
    return replace(detail, version=version_of(number, replace(detail, jobs=tuple(shown))))


def job_inputs(job_id: JobId) -> list[JobInput]:
    """The done jobs that this one needs, ascending: what a handler works from."""
    return jobs.read_inputs(job_id)


def history(guild_id: GuildId) -> History:
    """The newest page of the guild's ledger, as whoever looks on is shown it."""
    records = events_page(guild_id)
    # Records of a guild are written one after the other, so a newer page has a larger number.
    number = records[0].event_id if records else 0
    return History(version_of(number, records), records)


def events_page(guild_id: GuildId, *, before: EventId | None = None) -> list[LedgerRecord]:
    """Up to 50 records of the guild's ledger, newest first, older than ``before``."""
    return ledger.read_page(guild_id, before=before, limit=EVENTS_A_PAGE)
