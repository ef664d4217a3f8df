"""Heartbeat, complete, fail and release over HTTP: only under the caller's own lease."""

from typing import Any

import pytest

from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId, SessionId
from guildqueue.domain.token import Verb
from guildqueue.services.cancel import cancel_session
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, problem_of
from tests.web.scoped import body_of, claimed, machine

pytestmark = pytest.mark.django_db
Lease = dict[str, Any]
ENDINGS: dict[str, dict[str, Any]] = {
    "heartbeat": {"ttl": 60, "progress": 0.5},
    "complete": {"result": {"words": 3}},
    "fail": {"error": "no speech"},
    "release": {},
}


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def session(guild: GuildId) -> SessionId:
    return builders.stored_session(guild, n_tracks=2)


@pytest.fixture
def worker(guild: GuildId, session: SessionId) -> Caller:
    return machine(guild)


@pytest.fixture
def lease(worker: Caller) -> Lease:
    return claimed(worker)[0]


def say(caller: Caller, verb: str, lease: Lease, **more: object) -> Any:
    body = {"token": lease["token"], **ENDINGS[verb], **more}
    return caller.post(f"/api/jobs/{lease['job']['job_id']}/{verb}", body)


def state_of(lease: Lease, session: SessionId) -> str:
    return builders.stored_job(JobId(int(lease["job"]["job_id"])), session_id=session).state


def test_a_heartbeat_extends_the_lease(worker: Caller, lease: Lease) -> None:
    later = body_of(say(worker, "heartbeat", lease, ttl=3600))["expires_at"]

    assert later > lease["expires_at"]


@pytest.mark.parametrize(
    ("verb", "state", "more"),
    [
        ("complete", "done", {"audio_seconds": 12.5}),
        ("fail", "pending", {}),
        ("fail", "dead", {"permanent": True}),
        ("release", "pending", {}),
    ],
)
def test_a_worker_ends_its_job(
    worker: Caller, lease: Lease, session: SessionId, verb: str, state: str, more: dict[str, Any]
) -> None:
    assert body_of(say(worker, verb, lease, **more)) == {"state": state}
    assert state_of(lease, session) == state


@pytest.mark.parametrize("verb", ENDINGS)
@pytest.mark.parametrize("token", ["0", "2", str(BIGINT_MAX), str(BIGINT_MAX + 1), "9" * 19])
def test_a_token_that_is_not_the_leases_is_a_409_that_changes_nothing(
    worker: Caller, lease: Lease, verb: str, token: str
) -> None:
    before = fingerprint()

    problem = problem_of(say(worker, verb, {**lease, "token": token}))

    assert (problem["status"], problem["refusal"]) == (409, "stale-lease")
    assert fingerprint() == before


@pytest.mark.parametrize("verb", ENDINGS)
def test_a_lease_belongs_to_its_very_token_and_not_to_its_name(
    worker: Caller, lease: Lease, guild: GuildId, verb: str
) -> None:
    other = machine(guild)
    before = fingerprint()

    assert problem_of(say(other, verb, lease))["refusal"] == "stale-lease"
    assert fingerprint() == before


@pytest.mark.parametrize("verb", ENDINGS)
def test_a_cancelled_job_is_a_409_that_says_so(
    worker: Caller, lease: Lease, guild: GuildId, session: SessionId, verb: str
) -> None:
    cancel_session(session, guild_id=guild, caller=builders.caller())

    problem = problem_of(say(worker, verb, lease))

    assert (problem["status"], problem["refusal"]) == (409, "cancelled")
    assert problem["type"] == "urn:problem-type:guildqueue:cancelled"


@pytest.mark.parametrize("verb", ENDINGS)
def test_a_job_of_another_guild_is_a_404_like_one_that_is_not_there(
    lease: Lease, verb: str
) -> None:
    stranger = machine(builders.stored_guild(builders.MAGPIE))
    missing = {**lease, "job": {"job_id": str(BIGINT_MAX)}}

    answers = [say(stranger, verb, asked) for asked in (lease, missing)]

    assert {problem_of(answer)["status"] for answer in answers} == {404}
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("verb", ENDINGS)
def test_a_job_in_scope_without_the_verb_is_a_403(lease: Lease, guild: GuildId, verb: str) -> None:
    reader = machine(guild, verbs=[Verb.READ, Verb.ENQUEUE])

    assert problem_of(say(reader, verb, lease))["status"] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "../../etc/passwd",
        "transcripts/118000000000000002/1/1-1.json",
        "transcripts/118000000000000001/../118000000000000002/1-1.json",
        "transcripts/118000000000000001",
        "audio/118000000000000001/1/1.flac",
        "",
        None,
        7,
        ["transcripts/118000000000000001/1/1-1.json"],
    ],
)
def test_a_result_may_only_name_a_file_where_the_guilds_results_are(
    worker: Caller, lease: Lease, path: object
) -> None:
    before = fingerprint()

    problem = problem_of(say(worker, "complete", lease, result={"path": path}))

    assert (problem["status"], problem["field"]) == (400, "result.path")
    assert fingerprint() == before


def test_a_result_where_the_guilds_results_are_is_taken(
    worker: Caller, lease: Lease, guild: GuildId
) -> None:
    result = {"path": f"transcripts/{guild}/1/1-1.json"}

    assert body_of(say(worker, "complete", lease, result=result)) == {"state": "done"}


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("heartbeat", {}, "token"),
        ("heartbeat", {"token": 1}, "token"),
        ("heartbeat", {"token": "-1"}, "token"),
        ("heartbeat", {"token": "1\n"}, "token"),
        ("heartbeat", {"token": "1", "progress": 1.1}, "progress"),
        ("heartbeat", {"token": "1", "ttl": 0}, "ttl"),
        ("complete", {"token": "1", "result": []}, "result"),
        ("complete", {"token": "1", "audio_seconds": -1}, "audio_seconds"),
        ("complete", {"token": "1", "audio_seconds": 10**400}, "audio_seconds"),
        ("fail", {"token": "1"}, "error"),
        ("fail", {"token": "1", "error": "x", "permanent": "yes"}, "permanent"),
        ("release", {"token": "1", "why": "x"}, "why"),
    ],
)
def test_a_body_that_is_not_right_is_told_which_field(
    worker: Caller, lease: Lease, verb: str, body: dict[str, Any], field: str
) -> None:
    problem = problem_of(worker.post(f"/api/jobs/{lease['job']['job_id']}/{verb}", body))

    assert (problem["status"], problem["field"]) == (400, field)
