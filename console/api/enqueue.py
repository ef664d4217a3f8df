"""What scripts put in the queue: meetings, their tracks, and single jobs."""

from datetime import UTC, datetime
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from ninja import Router

from console.api.answers import answer
from console.api.answers import jobs as answer_jobs
from console.api.auth import caller_of, guild_of, session_guild_of, visitor_of
from console.api.lane import asker_of
from console.api.problems import LANE_STATUS, problem
from console.api.schemas import REFUSALS, Jobs, LaneProblem, PathId, Problem
from console.api.work_schemas import (
    CreatedJob,
    CreatedSession,
    NewJob,
    NewParticipant,
    NewSession,
    NewTrack,
    NewTracks,
    whole_id,
)
from guildqueue.domain import new_job, new_session
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.location import check_audio_uri
from guildqueue.domain.token import Verb
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.bump import bump_added
from guildqueue.services.create_session import create_session
from guildqueue.services.enqueue import EnqueuedJob, enqueue_jobs

router = Router(tags=["enqueue"])
SESSIONS = "/guilds/{bigid:guild_id}/sessions"
TRACKS = "/sessions/{bigid:session_id}/tracks"
CREATING_JOB = {200: CreatedJob, 201: CreatedJob, **REFUSALS, 403: LaneProblem, 409: LaneProblem}
CREATING = {200: CreatedSession, 201: CreatedSession, 409: Problem, **REFUSALS}


@router.post(SESSIONS, response=CREATING, url_name="api-session-create")
def add_session(request: HttpRequest, guild_id: PathId, new: NewSession) -> HttpResponse:
    """A meeting with a job a track; 200 if the guild has that `external_id`, left unchanged."""
    guild = guild_of(request, guild_id, Verb.ENQUEUE)
    created = create_session(guild.id, session=_session(new, guild.id))
    body = {"session_id": str(created.session_id), "created": created.created}
    return answer(body, status=201 if created.created else 200)


@router.post(TRACKS, response={200: Jobs, 409: Problem, **REFUSALS}, url_name="api-session-tracks")
def add_session_tracks(request: HttpRequest, session_id: PathId, new: NewTracks) -> HttpResponse:
    """Tracks that come later; the document waits for them, or is made again."""
    guild_id = session_guild_of(request, session_id, Verb.ENQUEUE)
    added = add_tracks(
        SessionId(session_id),
        guild_id=guild_id,
        tracks=_tracks(new.tracks, guild_id),
        recording=new.recording,
    )
    return answer_jobs(added)


@router.post(
    "/jobs",
    response=CREATING_JOB,
    url_name="api-job-create",
)
def add_job(request: HttpRequest, new: NewJob) -> HttpResponse:
    """A job for a session that is there; 200 if the guild has that `external_id`, unchanged.

    With `bump` it runs next, for a token whose declared source may say so; without that grant it
    is a 403, on record, and nothing is created.
    """
    guild_id = guild_of(request, whole_id("guild", new.guild), Verb.ENQUEUE).id
    job = _job(new, guild_id)
    if not new.bump:
        return _created(enqueue_jobs(guild_id, jobs=[job])[0])
    added: list[EnqueuedJob] = []

    def add() -> JobId:
        # Once more where the database broke a lock cycle: the last one counts.
        added[:] = enqueue_jobs(guild_id, jobs=[job])
        return added[0].job_id

    outcome = bump_added(
        add,
        guild_id=guild_id,
        asker=asker_of(visitor_of(request), new.source),
        external_id=new.external_id,
        reason=new.reason,
        correlation_id=caller_of(request).correlation_id,
    )
    return _created(added[0]) if outcome.accepted else _refused(outcome)


def _created(job: EnqueuedJob) -> HttpResponse:
    body = {"job_id": str(job.job_id), "created": job.created}
    return answer(body, status=201 if job.created else 200)


def _refused(outcome: LaneOutcome) -> HttpResponse:
    status = LANE_STATUS[outcome.refusal] if outcome.refusal else HTTPStatus.CONFLICT
    return problem(status, outcome.note, kind=outcome.refusal, **outcome.as_json())


def _session(new: NewSession, guild_id: GuildId) -> new_session.NewSession:
    return new_session.NewSession(
        title=new.title,
        external_id=new.external_id,
        started_at=_moment("started_at", new.started_at),
        participants=tuple(map(_participant, new.participants)),
        tracks=_tracks(new.tracks, guild_id),
        recording=new.recording,
    )


def _participant(new: str | NewParticipant) -> new_session.NewParticipant:
    if isinstance(new, str):
        return new_session.NewParticipant(name=new)
    return new_session.NewParticipant(name=new.name, user_id=new.user_id)


def _tracks(tracks: list[NewTrack], guild_id: GuildId) -> tuple[new_session.NewTrack, ...]:
    for place, track in enumerate(tracks):
        check_audio_uri(f"tracks.{place}.uri", track.uri, guild_id=guild_id)
    return tuple(
        new_session.NewTrack(name=track.name, uri=track.uri, audio_seconds=track.audio_seconds)
        for track in tracks
    )


def _job(new: NewJob, guild_id: GuildId) -> new_job.NewJob:
    check_audio_uri("payload.uri", new.payload.get("uri"), guild_id=guild_id)
    return new_job.NewJob(
        session_id=SessionId(whole_id("session", new.session)),
        kind=new.kind,
        assignee_kind=new.assignee_kind,
        payload=new.payload,
        needs=tuple(map(_need, new.needs)),
        labels=tuple(new.labels),
        run_after=_moment("run_after", new.run_after),
        external_id=new.external_id,
        audio_seconds=new.audio_seconds,
    )


def _need(text: str) -> new_job.Need:
    return JobId(int(text)) if text.isascii() and text.isdecimal() and len(text) < 20 else text


def _moment(field: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(field, text, "a date and time with its zone, 2026-03-14T20:30:00Z")
