"""Stored guilds, meetings, jobs and people in the state that a test is about, by the services."""

from collections.abc import Sequence
from datetime import datetime
from itertools import count

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId, SessionId, UserId
from guildqueue.domain.job import Job, Kind, Lease
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.browse import session_detail, session_guild
from guildqueue.services.cancel import cancel_session
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.create_session import create_session
from guildqueue.services.fail import fail_job
from guildqueue.services.membership import add_administrator
from guildqueue.services.register_guild import register_guild
from guildqueue.services.release import release_job
from guildqueue.services.tokens import issue_token

STARLING = GuildId(118000000000000001)
MAGPIE = GuildId(118000000000000002)
WORKER = "account:tester@host/1"
PASSWORD = "a long enough one"

_numbers = count(1)


def caller(name: str = "ada", *, kind: PrincipalKind = PrincipalKind.USER) -> Caller:
    """Somebody who asks for a change."""
    return Caller(principal=Principal(kind, name))


def stored_guild(
    guild_id: int = STARLING, *, name: str = "Starling Guild", running_cap: int | None = None
) -> GuildId:
    """A guild; the same one again for the same id."""
    return register_guild(GuildId(guild_id), name=name, running_cap=running_cap).id


def stored_session(
    guild_id: GuildId,
    *,
    title: str | None = None,
    n_tracks: int = 1,
    participants: Sequence[str] | int | None = None,
    audio_seconds: float | Sequence[float | None] | None = 60.0,
    uri: str | None = None,
    external_id: str | None = None,
    started_at: datetime | None = None,
    recording: bool = False,
) -> SessionId:
    """A queued meeting: ``n_tracks`` tracks and, unless it is still recording, the document.

    ``participants`` are names or how many (default: one a track); ``audio_seconds`` is each
    track's length, or one a track; ``uri`` is every track's.
    """
    lengths = (
        list(audio_seconds) if isinstance(audio_seconds, Sequence) else [audio_seconds] * n_tracks
    )
    if participants is None or isinstance(participants, int):
        n_people = n_tracks if participants is None else participants
        participants = [f"speaker {number}" for number in range(1, n_people + 1)]
    names = [*participants, *(f"guest {number}" for number in range(len(lengths)))]
    session = NewSession(
        title=title or f"meeting {next(_numbers)}",
        external_id=external_id,
        started_at=started_at,
        participants=tuple(NewParticipant(name=name) for name in participants),
        tracks=tuple(
            NewTrack(name=name, uri=uri, audio_seconds=length)
            for name, length in zip(names, lengths, strict=False)
        ),
        recording=recording,
    )
    return create_session(guild_id, session=session).session_id


def session_jobs(session_id: SessionId) -> list[Job]:
    """All jobs of the session, ascending."""
    return [detail.job for detail in session_detail(session_id).jobs]


def track_ids(session_id: SessionId) -> list[JobId]:
    """The session's transcribe jobs, ascending."""
    return [job.id for job in session_jobs(session_id) if job.kind == Kind.TRANSCRIBE]


def document_id(session_id: SessionId) -> JobId:
    """The session's newest document job."""
    return [job.id for job in session_jobs(session_id) if job.kind == Kind.DOCUMENT][-1]


def stored_job(job_id: JobId, *, session_id: SessionId) -> Job:
    """The job as it is stored now."""
    return next(job for job in session_jobs(session_id) if job.id == job_id)


def running_jobs(
    session_id: SessionId, *, n: int | None = None, principal: str = WORKER, ttl_s: float = 60.0
) -> list[Lease]:
    """Leases on the first ``n`` claimable jobs of the session (default: all), wherever it stands.

    What else the claim takes is handed back, so the other sessions wait as before.
    """
    taken = claim_jobs(
        principal,
        filter=JobFilter(guilds=frozenset({session_guild(session_id)})),
        count=10_000,
        ttl_s=ttl_s,
    )
    wanted = [lease for lease in taken if lease.job.session_id == session_id][:n]
    for lease in taken:
        if lease not in wanted:
            release_job(lease.job.id, token=lease.token, principal=principal)
    return wanted


def complete(lease: Lease, *, principal: str = WORKER, audio_seconds: float | None = None) -> None:
    """End a leased job as done."""
    complete_job(
        lease.job.id,
        token=lease.token,
        principal=principal,
        result={"path": f"nowhere/{lease.job.id}.json"},
        audio_seconds=audio_seconds,
    )


def bury(lease: Lease, *, error: str = "no speech in it", principal: str = WORKER) -> None:
    """End a leased job as dead."""
    fail_job(
        lease.job.id,
        token=lease.token,
        principal=principal,
        error=error,
        permanent=True,
        jitter=0.0,
    )


def done_session(guild_id: GuildId, *, title: str | None = None, n_tracks: int = 1) -> SessionId:
    """A meeting of which everything is done, the document too."""
    session_id = stored_session(guild_id, title=title, n_tracks=n_tracks)
    while leases := running_jobs(session_id):
        for lease in leases:
            complete(lease)
    return session_id


def dead_session(
    guild_id: GuildId, *, title: str | None = None, n_tracks: int = 1, error: str = "no speech"
) -> SessionId:
    """A meeting whose first track is dead; the others are done, so the document is blocked."""
    session_id = stored_session(guild_id, title=title, n_tracks=n_tracks)
    first, *others = running_jobs(session_id)
    bury(first, error=error)
    for lease in others:
        complete(lease)
    return session_id


def cancelled_session(guild_id: GuildId, *, title: str | None = None) -> SessionId:
    """A meeting whose jobs somebody cancelled."""
    session_id = stored_session(guild_id, title=title)
    cancel_session(session_id, guild_id=guild_id, caller=caller())
    return session_id


def expire_lease(job_id: JobId) -> None:
    """The job's lease is over, as if its worker had gone a while ago."""
    _execute(
        "UPDATE guildqueue_job SET lease_expires_at = clock_timestamp() - interval '1 second'"
        " WHERE id = %s",
        job_id,
    )


def make_due(job_id: JobId) -> None:
    """The wait before the job's next try is over."""
    _execute(
        "UPDATE guildqueue_job SET run_after = clock_timestamp() - interval '1 second'"
        " WHERE id = %s",
        job_id,
    )


def stored_user(
    username: str = "ada", *, guilds: Sequence[GuildId] = (), is_active: bool = True
) -> User:
    """A user of the console, whose password is PASSWORD, administering ``guilds``."""
    user = User.objects.create_user(username, password=PASSWORD)
    for guild_id in guilds:
        add_administrator(username, guild_id=guild_id)
    if not is_active:
        user.is_active = False
        user.save(update_fields=["is_active"])
    return user


def user_id(user: User) -> UserId:
    """The user as services name it."""
    return UserId(user.pk)


def signed_in(user: User, *, enforce_csrf_checks: bool = False) -> Client:
    """A browser in which the user is signed in."""
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user)
    return client


def bearer(username: str | None = None, *, name: str = "a token") -> dict[str, str]:
    """The headers of a request with a new token that acts as the user."""
    return {"Authorization": f"Bearer {issue_token(name, username=username)}"}


def _execute(statement: str, job_id: JobId) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [job_id])
