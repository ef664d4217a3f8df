"""Meetings, tracks and jobs put in the queue over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.domain.job import Job
from guildqueue.domain.token import Verb
from guildqueue.services.register_guild import register_guild
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, problem_of
from tests.web.scoped import body_of, machine

pytestmark = pytest.mark.django_db
G = builders.STARLING


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def session(guild: GuildId) -> SessionId:
    return builders.stored_session(guild)


@pytest.fixture
def script(guild: GuildId) -> Caller:
    return machine(guild, verbs=[Verb.ENQUEUE])


def sessions_of(guild: GuildId) -> str:
    return f"/api/guilds/{guild}/sessions"


def jobs_of(created: dict[str, Any]) -> list[Job]:
    return builders.session_jobs(SessionId(int(created["session_id"])))


MEETING = {
    "title": "  retrospective ",
    "external_id": "craig-1",
    "started_at": "2026-03-14T21:30:00+01:00",
    "participants": ["ada", {"name": "ivo", "user_id": "7"}],
    "tracks": [
        {"name": "ada", "uri": f"audio/{G}/craig-1/1-ada.flac", "audio_seconds": 12},
        {"name": "ivo", "uri": "https://example.org/2-ivo.flac"},
    ],
}


def test_a_meeting_comes_with_a_job_a_track_and_its_document(
    script: Caller, guild: GuildId
) -> None:
    created = body_of(script.post(sessions_of(guild), MEETING), 201)

    jobs = jobs_of(created)
    assert created["created"] is True
    assert [job.kind for job in jobs] == ["transcribe", "transcribe", "document"]
    assert [job.audio_seconds for job in jobs[:2]] == [12.0, None]
    assert jobs[2].payload == {"title": "retrospective", "started_at": "2026-03-14T20:30:00+00:00"}


def test_a_meeting_whose_external_id_is_known_is_a_200_and_unchanged(
    script: Caller, guild: GuildId
) -> None:
    first = body_of(script.post(sessions_of(guild), MEETING), 201)
    before = fingerprint()

    again = body_of(script.post(sessions_of(guild), {**MEETING, "title": "another"}), 200)

    assert again == {"session_id": first["session_id"], "created": False}
    assert fingerprint() == before


def test_tracks_come_while_it_records_and_the_last_call_ends_it(
    script: Caller, guild: GuildId
) -> None:
    created = body_of(script.post(sessions_of(guild), {"title": "live", "recording": True}), 201)
    path = f"/api/sessions/{created['session_id']}/tracks"

    added = body_of(script.post(path, {"tracks": [{"name": "ada"}]}))
    body_of(script.post(path, {"recording": False}))

    jobs = jobs_of(created)
    assert [str(job.id) for job in jobs][:1] == added["jobs"]
    assert [job.kind for job in jobs] == ["transcribe", "document"]


URIS = [
    "/etc/passwd",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://example.org/x",
    "http://",
    "http://exa mple.org/x",
    "https://example.org:99999/x",
    "audio/x.flac",
    f"audio/{builders.MAGPIE}/x.flac",
    f"audio/{G}/../{builders.MAGPIE}/x.flac",
    f"audio/{G}/../../secret",
    f"./audio/{G}/x.flac",
    f"audio//{G}/x.flac",
    f"audio/{G}",
    f"audio/{G}/",
    f"audio\\{G}\\x.flac",
    f"transcripts/{G}/1/1-1.json",
    "..",
    "",
]


@pytest.mark.parametrize("uri", URIS)
def test_a_track_may_only_name_a_file_of_its_guild_or_a_web_address(
    script: Caller, guild: GuildId, session: SessionId, uri: str
) -> None:
    """Whoever may enqueue must not make a worker open any file of the host."""
    before, track = fingerprint(), {"name": "ada", "uri": uri}
    job = {"guild": str(guild), "session": str(session), "kind": "transcribe", "payload": track}

    for path, body, field in (
        (sessions_of(guild), {"title": "x", "tracks": [track]}, "tracks.0.uri"),
        (f"/api/sessions/{session}/tracks", {"tracks": [track]}, "tracks.0.uri"),
        ("/api/jobs", job, "payload.uri"),
    ):
        problem = problem_of(script.post(path, body))
        assert (problem["status"], problem["field"]) == (400, field)
    assert fingerprint() == before


def test_a_job_is_put_in_a_session_that_is_there(
    script: Caller, guild: GuildId, session: SessionId
) -> None:
    track = builders.track_ids(session)[0]
    new = {
        "guild": str(guild),
        "session": str(session),
        "kind": "document",
        "assignee_kind": "agent",
        "payload": {"title": "minutes"},
        "needs": [str(track)],
        "labels": ["minutes"],
        "run_after": "2030-01-01T00:00:00Z",
        "external_id": "minutes-1",
    }

    created = body_of(script.post("/api/jobs", new), 201)
    again = body_of(script.post("/api/jobs", {**new, "labels": []}), 200)

    job = builders.session_jobs(session)[-1]
    assert created == {"job_id": str(job.id), "created": True}
    assert again == {"job_id": str(job.id), "created": False}
    assert (job.assignee_kind, job.labels, job.needs) == ("agent", ("minutes",), (track,))


@pytest.mark.parametrize("source", [None, "nightly-import", "operator", "another"])
def test_a_bump_without_the_grant_is_a_403_on_record_and_creates_nothing(
    guild: GuildId, session: SessionId, source: str | None
) -> None:
    script = machine(guild, verbs=[Verb.ENQUEUE, Verb.BUMP], source="nightly-import")
    before = builders.session_jobs(session)
    new = {"guild": str(guild), "session": str(session), "kind": "document", "bump": True}

    problem = problem_of(script.post("/api/jobs", {**new, "source": source}))

    assert (problem["status"], problem["refusal"]) == (403, "not-granted")
    assert problem["accepted"] is False
    assert builders.session_jobs(session) == before


def test_a_declared_source_enqueues_what_runs_next(
    guild: GuildId, session: SessionId, tmp_path: Path
) -> None:
    (tmp_path / "queue.toml").write_text('[queue.priority]\nsources = ["nightly-import"]\n')
    register_guild(guild, root=str(tmp_path))
    script = machine(guild, verbs=[Verb.ENQUEUE, Verb.BUMP], source="nightly-import")
    new = {"guild": str(guild), "session": str(session), "kind": "document", "bump": True}

    created = body_of(script.post("/api/jobs", {**new, "source": "nightly-import"}), 201)

    job = builders.session_jobs(session)[-1]
    assert str(job.id) == created["job_id"]
    assert job.bump_named


def test_what_another_guild_has_is_a_404_like_what_is_not_there(
    script: Caller, guild: GuildId
) -> None:
    magpie = builders.stored_guild(builders.MAGPIE)
    other = builders.stored_session(magpie)
    before = fingerprint()

    for theirs, none in (
        (sessions_of(magpie), sessions_of(GuildId(BIGINT_MAX))),
        (f"/api/sessions/{other}/tracks", f"/api/sessions/{BIGINT_MAX}/tracks"),
    ):
        body = {"title": "x"} if theirs.endswith("sessions") else {}
        answers = [script.post(path, body) for path in (theirs, none)]
        assert {problem_of(answer)["status"] for answer in answers} == {404}
        assert answers[0].content == answers[1].content
    for guild_id, session_id in ((magpie, other), (guild, other), (guild, BIGINT_MAX)):
        new = {"guild": str(guild_id), "session": str(session_id), "kind": "document"}
        assert problem_of(script.post("/api/jobs", new))["status"] == 404
    assert fingerprint() == before


def test_what_the_token_may_not_do_is_a_403(guild: GuildId, session: SessionId) -> None:
    worker = machine(guild, verbs=[Verb.READ, Verb.CLAIM])
    new = {"guild": str(guild), "session": str(session), "kind": "document"}

    for path, body in (
        (sessions_of(guild), {"title": "x"}),
        (f"/api/sessions/{session}/tracks", {}),
        ("/api/jobs", new),
    ):
        assert problem_of(worker.post(path, body))["status"] == 403


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "title"),
    ({"title": ""}, "title"),
    ({"title": "   "}, "title"),
    ({"title": "x" * 501}, "title"),
    ({"title": 7}, "title"),
    ({"title": "x", "titel": "y"}, "titel"),
    ({"title": "x", "started_at": "yesterday"}, "started_at"),
    ({"title": "x", "started_at": "2026-03-14T20:30:00"}, "started_at"),
    ({"title": "x", "started_at": 1700000000}, "started_at"),
    ({"title": "x", "started_at": "0001-01-01T00:00:00+10:00"}, "started_at"),
    ({"title": "x", "recording": 1}, "recording"),
    ({"title": "x", "tracks": {}}, "tracks"),
    ({"title": "x", "tracks": [{}]}, "tracks.0.name"),
    ({"title": "x", "tracks": [{"name": "a", "url": "x"}]}, "tracks.0.url"),
    ({"title": "x", "tracks": [{"name": "a", "audio_seconds": -1}]}, "tracks.0.audio_seconds"),
    ({"title": "x", "tracks": [{"name": "a", "audio_seconds": "9"}]}, "tracks.0.audio_seconds"),
    ({"title": "x", "tracks": [{"name": "a"}] * 1001}, "tracks"),
]


@pytest.mark.parametrize(("body", "field"), BAD, ids=[str(body)[:60] for body, _ in BAD])
def test_a_meeting_that_is_not_right_is_told_which_field(
    script: Caller, guild: GuildId, body: dict[str, Any], field: str
) -> None:
    before = fingerprint()

    problem = problem_of(script.post(sessions_of(guild), body))

    assert (problem["status"], problem["field"]) == (400, field)
    assert fingerprint() == before


def test_an_unknown_field_within_is_told_with_those_that_are_known_there(
    script: Caller, guild: GuildId
) -> None:
    body = {"title": "x", "tracks": [{"name": "a", "url": "x"}]}

    assert (
        problem_of(script.post(sessions_of(guild), body))["allowed"] == "name, uri, audio_seconds"
    )


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"kind": "dance"}, "kind"),
        ({"assignee_kind": "robot"}, "assignee_kind"),
        ({"payload": []}, "payload"),
        ({"needs": ["no-such-job"]}, "needs"),
        ({"needs": [str(BIGINT_MAX)]}, "needs"),
        ({"needs": ["9" * 19]}, "needs"),
        ({"labels": [""]}, "labels"),
        ({"run_after": "soon"}, "run_after"),
        ({"external_id": ""}, "external_id"),
        ({"guild": "x"}, "guild"),
        ({"session": "9" * 19}, "session"),
        ({"bump": "yes"}, "bump"),
        ({"priority": -1}, "priority"),
    ],
)
def test_a_job_that_is_not_right_is_told_which_field(
    script: Caller, guild: GuildId, session: SessionId, more: dict[str, Any], field: str
) -> None:
    new = {"guild": str(guild), "session": str(session), "kind": "document", **more}
    before = fingerprint()

    problem = problem_of(script.post("/api/jobs", new))

    assert (problem["status"], problem["field"]) == (400, field)
    assert fingerprint() == before
