"""``queue ready``, ``claim``, ``jobs``, ``add``, ``depth``: what they take, answer, exit with."""

import json
from typing import Any

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.services.browse import job_detail
from guildqueue.services.claim import claim_jobs
from guildqueue.services.hold import hold_guild
from tests.builders import MAGPIE, STARLING, caller, stored_guild, stored_session, track_ids
from tests.db.command import queue
from tests.db.stored import row_versions, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def places(answer: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(job["guild_id"], job["job_id"]) for job in answer]


def test_ready_without_a_guild_lists_both_in_turns_and_claims_follow(guild: GuildId) -> None:
    for each in (guild, stored_guild(MAGPIE)):
        stored_session(each, n_tracks=2)

    listed = places(queue("ready", "--json").json["jobs"])
    claims = [queue("claim", "--json").json["leases"] for _ in range(5)]

    assert [guild_id for guild_id, _ in listed] == [str(STARLING), str(MAGPIE)] * 2
    assert [places([lease["job"] for lease in leases]) for leases in claims[:4]] == [
        [place] for place in listed
    ]
    assert claims[4] == []


def test_guilds_are_named_once_or_often_and_none_is_all(guild: GuildId) -> None:
    third = stored_guild(118000000000000003)
    for each in (guild, stored_guild(MAGPIE), third):
        stored_session(each)

    one = queue("ready", "-g", MAGPIE, "--json").json["jobs"]
    two = queue("ready", "-g", guild, "-g", third, "--json").json["jobs"]

    assert [job["guild_id"] for job in one] == [str(MAGPIE)]
    assert [job["guild_id"] for job in two] == [str(guild), str(third)]


def test_the_default_guild_counts_where_none_is_named(guild: GuildId, settings: Any) -> None:
    for each in (guild, stored_guild(MAGPIE)):
        stored_session(each)
    settings.GUILDQUEUE_GUILD = MAGPIE

    assert {job["guild_id"] for job in queue("ready", "--json").json["jobs"]} == {str(MAGPIE)}
    assert {job["guild_id"] for job in queue("jobs", "--json").json["jobs"]} == {str(MAGPIE)}
    assert queue("depth", "--json").json["total"] == 1


def test_a_claim_answers_with_leases_that_hold(guild: GuildId) -> None:
    first, second = track_ids(stored_session(guild, n_tracks=2))

    leases = queue("claim", "--count", 5, "--ttl", 600, "--json").json["leases"]

    assert [lease["job"]["job_id"] for lease in leases] == [str(first), str(second)]
    assert leases[0]["job"]["state"] == "running"
    assert (leases[0]["token"], leases[0]["expires_at"][-1]) == ("1", "Z")
    assert claim_jobs("other", ttl_s=60) == []


def test_a_request_that_is_sent_again_gets_the_same_lease(guild: GuildId) -> None:
    stored_session(guild, n_tracks=2)

    answers = [queue("claim", "--request-id", "r1", "--json").json for _ in range(2)]

    assert answers[0] == answers[1]


def test_an_empty_ready_says_how_many_a_hold_keeps_back(guild: GuildId) -> None:
    stored_session(guild, n_tracks=2)
    hold_guild(guild, reason="", caller=caller())

    assert queue("ready", "--json").json == {"jobs": [], "held_count": 2}
    assert "nothing is ready; holds keep 2 jobs back" in queue("ready").out
    assert queue("ready", "--kinds", "document").out.endswith("nothing is ready\n")


def test_every_flag_of_the_filter_reaches_it(guild: GuildId) -> None:
    plain, marked = (track_ids(stored_session(guild))[0] for _ in range(2))
    write("UPDATE guildqueue_job SET labels = '{a,b}', priority = 5 WHERE id = %s", marked)

    for words in (
        ("--labels", "a", "b"),
        ("--any-labels", "b", "--any-labels", "c"),
        ("--min-priority", 1),
        ("--session", job_detail(marked).job.session_id),
        ("--kinds", "transcribe", "--labels", "a"),
    ):
        listed = queue("ready", *words, "--json").json["jobs"]
        assert [job["job_id"] for job in listed] == [str(marked)], words
    assert len(queue("ready", "--max-priority", 4, "--json").json["jobs"]) == 1
    assert queue("ready", "--assignee-kind", "human", "--json").json["jobs"] == []
    assert plain < marked


def test_jobs_lists_by_state_and_hold_and_goes_on(guild: GuildId) -> None:
    first, *_, document = [
        job["job_id"]
        for _ in [stored_session(guild, n_tracks=3)]
        for job in queue("jobs", "--json").json["jobs"]
    ]
    queue("claim")

    assert [
        job["job_id"] for job in queue("jobs", "--states", "running", "--json").json["jobs"]
    ] == [first]
    page = queue("jobs", "--limit", 3, "--json").json
    rest = queue("jobs", "--after", page["after"], "--json").json
    assert [job["job_id"] for job in rest["jobs"]] == [document]
    assert rest["after"] is None
    hold_guild(guild, reason="", caller=caller())
    assert len(queue("jobs", "--held", "--json").json["jobs"]) == 3
    assert len(queue("jobs", "--not-held", "--json").json["jobs"]) == 1
    assert f"more: --after {page['after']}" in queue("jobs", "--limit", 3).out


def test_depth_is_told_by_kind(guild: GuildId) -> None:
    stored_session(guild, n_tracks=3)

    assert queue("depth", "--json").json == {
        "kinds": {"transcribe": 3, "document": 0},
        "total": 3,
    }
    assert queue("depth").out == "transcribe: 3\ndocument: 0\ntotal: 3\n"


def test_a_job_is_added_once_under_its_external_id(guild: GuildId) -> None:
    session = stored_session(guild)
    (track,) = track_ids(session)
    words = (
        "add",
        "document",
        "--session",
        session,
        "--external-id",
        "x",
        "--needs",
        track,
        "--labels",
        "gpu",
        "--payload",
        json.dumps({"title": "again"}),
        "--run-after",
        "2030-01-01T00:00:00Z",
    )

    added, again = (queue(*words, "--json").json for _ in range(2))

    assert added["created"]
    assert again == {"job_id": added["job_id"], "created": False}
    shown = queue("show", added["job_id"], "--json").json
    assert (shown["needs"], shown["labels"]) == ([str(track)], ["gpu"])
    assert (shown["payload"], shown["waits_for"]) == ({"title": "again"}, "dependency")
    after = queue("add", "document", "--session", session, "--needs", ":x", "--json").json
    assert queue("show", after["job_id"], "--json").json["needs"] == [added["job_id"]]


def test_show_says_that_the_cap_keeps_a_job_waiting() -> None:
    guild = stored_guild(running_cap=1)
    _, waiting = track_ids(stored_session(guild, n_tracks=2))
    queue("claim")

    assert queue("show", waiting, "--json").json["waits_for"] == "cap"
    assert queue("list", "-g", guild, "--json").json["sessions"][0]["waits_for"] == "cap"


REFUSED = [
    (("ready", "-g", 5), 3, "no guild 5"),
    (("claim", "--count", 0), 2, "count: 0 is not allowed"),
    (("claim", "--request-id", ""), 2, "request_id: ''"),
    (("ready", "--limit", 1001), 2, "limit: 1001"),
    (("ready", "--assignee-kind", "robot"), 2, "filter.assignee_kind: 'robot'"),
    (("jobs", "--labels", ""), 2, "filter.labels: ''"),
    (("depth", "-g", 5), 3, "no guild 5"),
    (("add", "transcribe", "--session", 999), 3, "no session 999"),
]


@pytest.mark.parametrize(("words", "code", "fault"), REFUSED)
def test_what_cannot_be_is_refused_in_one_line(
    guild: GuildId, words: tuple[object, ...], code: int, fault: str
) -> None:
    stored_session(guild)
    versions = row_versions()

    refused = queue(*words)

    assert refused.code == code
    assert refused.fault.startswith(fault)
    assert row_versions() == versions


def test_what_a_job_cannot_be_is_refused(guild: GuildId) -> None:
    session = stored_session(guild)

    for words in (
        ("translate",),
        ("transcribe", "--needs", 999),
        ("transcribe", "--needs", ":a"),
        ("transcribe", "--audio-seconds", "nan"),
        ("transcribe", "--labels", ""),
        ("transcribe", "--run-after", "2030-01-01T00:00:00"),
    ):
        assert queue("add", *words, "--session", session).code == 2, words
    for flag, text in (
        ("--payload", "[1]"),
        ("--payload", "{"),
        ("--run-after", "soon"),
        ("--needs", "x"),
    ):
        assert queue("add", "transcribe", "--session", session, flag, text).code == 2, flag
    assert queue("jobs", "--states", "pending", "--held", "--not-held").code == 2
    assert len(queue("jobs", "--json").json["jobs"]) == 2
