"""``queue bump``, ``unbump``, ``requeue --bump`` and the lane in ``queue list``."""

import json
import os
import pwd
from pathlib import Path

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.services.browse import events_page
from guildqueue.services.register_guild import register_guild
from tests.builders import (
    MAGPIE,
    cancelled_session,
    document_id,
    session_jobs,
    stored_session,
    track_ids,
)
from tests.db.command import queue
from tests.db.lane_requests import lane, rooted_guild, tracks_alone
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")
OPERATOR = f"operator:{pwd.getpwuid(os.getuid()).pw_name}"


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path, sources=("nightly-import",))


def test_bump_names_every_job_moved_and_exits_0(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    jobs = [*track_ids(session), document_id(session)]

    done = queue("bump", jobs[-1], "-g", guild, "--reason", "at noon", "--json")

    assert done.code == 0
    assert done.json == {
        "accepted": True,
        "refusal": None,
        "job_id": str(jobs[-1]),
        "session_id": None,
        "moved": [str(job) for job in jobs],
        "already": [],
        "removed": [],
        "skipped": [],
        "note": "",
    }
    [record] = events_page(guild)
    assert (record.by, record.reason) == (OPERATOR, "at noon")


def test_a_session_is_bumped_and_taken_back(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)

    assert queue("bump", "--session", session, "-g", guild).out.startswith("runs next: ")
    assert len(lane()) == 3
    assert queue("unbump", "--session", session, "-g", guild).out.startswith("taken back: ")
    assert lane() == []


def test_what_is_ahead_already_is_said_once(guild: GuildId) -> None:
    first, second = stored_session(guild), stored_session(guild)
    [track], document = track_ids(first), document_id(first)
    queue("bump", track, "-g", guild)

    assert queue("bump", track, "-g", guild).out == f"was ahead already: {track}\n"
    assert queue("bump", document, "-g", guild).out.splitlines() == [
        f"runs next: {document}",
        f"was ahead already: {track}",
    ]
    assert "ahead already" not in queue("bump", "--session", second, "-g", guild).out


def test_a_refusal_names_its_meeting_on_record_only_to_who_may_ask(guild: GuildId) -> None:
    session, ended = stored_session(guild, title="Retro"), cancelled_session(guild, title="Old")
    queue("bump", "--session", session, "-g", guild)
    [track] = track_ids(session)

    for words in (
        ("unbump", track),
        ("unbump", "--session", ended),
        ("unbump", 2**62),
        ("unbump", track, "--source", "somebody"),
    ):
        assert queue(*words, "-g", guild).code == 3

    titles = [record.changed["title"] for record in reversed(events_page(guild))][2:]
    assert titles == ["Retro", "Old", None, None]


def test_events_say_in_words_who_asked_for_what(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)
    queue("bump", job_id, "-g", guild, "--source", "somebody", "--reason", "let me")
    queue("bump", job_id, "-g", guild, "--reason", "at noon")

    _, bumped, refused = queue("events", "-g", guild).out.splitlines()[:3]

    assert "PriorityBumped  " in bumped
    assert f"reason: at noon; verb: bump; moved: {job_id}; named: {job_id}" in bumped
    assert "PriorityRefused, untrusted" in refused
    assert "{" not in bumped + refused


def test_a_declared_source_is_named_and_an_undeclared_one_refused(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)

    assert queue("bump", job_id, "-g", guild, "--source", "nightly-import").code == 0
    refused = queue("unbump", job_id, "-g", guild, "--source", "somebody")

    assert refused.code == 3
    assert "'somebody' is not declared" in refused.fault
    assert [record.by for record in events_page(guild)][1] == "source:nightly-import"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["bump", "1"], id="no-guild"),
        pytest.param(["bump", "1", "-g", "1", "-g", "2"], id="two-guilds"),
        pytest.param(["bump", "-g", "1"], id="nothing-named"),
        pytest.param(["unbump", "1", "--session", "2", "-g", "1"], id="both-named"),
        pytest.param(["bump", "x", "-g", "1"], id="no-id"),
        pytest.param(["bump", "1", "-g", "1", "--config", "x"], id="config"),
        pytest.param(["bump", "1", "-g", "1", "--reason", "x" * 501], id="long-reason"),
        pytest.param(["requeue", "1", "--source", "x"], id="source-without-bump"),
        pytest.param(["requeue", "1", "--bump"], id="requeue-bump-without-guild"),
    ],
)
def test_misuse_exits_2_and_records_nothing(guild: GuildId, words: list[str]) -> None:
    assert queue(*words).code == 2
    assert events_page(guild) == []


def test_a_refusal_exits_3_with_its_reason_and_is_on_record(guild: GuildId) -> None:
    done = queue("bump", 999_999, "-g", guild, "--json")

    assert done.code == 3
    assert done.json["refusal"] == "no-such-job"
    assert done.fault == "no job 999999"
    assert events_page(guild)[0].changed["refusal"] == "no-such-job"


def test_a_guild_that_is_not_there_exits_3(guild: GuildId) -> None:
    assert queue("bump", 1, "-g", 5).fault == "no guild 5"


def test_a_repeat_is_a_noop_that_exits_0(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)
    queue("bump", job_id, "-g", guild)

    done = queue("bump", job_id, "-g", guild)

    assert done.code == 0
    assert "ahead already" in done.out


def test_nothing_in_the_environment_makes_an_operator(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_guild(guild, root="/nowhere")
    for name in ("USER", "LOGNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "root")

    assert queue("bump", 1, "-g", guild).code == 3
    assert events_page(guild)[0].by.startswith("account:")


def test_requeue_bump_puts_a_cancelled_session_ahead(guild: GuildId) -> None:
    tracks_alone(guild, 1)
    session = cancelled_session(guild)

    done = queue("requeue", "--session", session, "--bump", "-g", guild, "--json")

    assert done.json["moved"] == [str(job) for job in lane()]
    assert len(lane()) == 2


def test_add_bump_adds_a_job_ahead_and_bumps_a_known_one(guild: GuildId) -> None:
    tracks_alone(guild, 1)
    session = stored_session(guild)
    words = ("add", "transcribe", "--session", session, "--bump", "-g", guild, "--json")

    added = queue(*words, "--external-id", "x-1", "--reason", "at once")
    queue("unbump", added.json["job_id"], "-g", guild)
    again = queue(*words, "--external-id", "x-1")

    assert (added.code, again.code) == (0, 0)
    assert added.json["moved"] == again.json["moved"] == [added.json["job_id"]]
    assert [str(job) for job in lane()] == [added.json["job_id"]]
    assert events_page(guild)[-1].changed["external_id"] == "x-1"


def test_add_bump_without_the_grant_creates_nothing_and_is_on_record(guild: GuildId) -> None:
    session = stored_session(guild)
    words = ("add", "transcribe", "--session", session, "--bump")
    before = len(session_jobs(session))

    assert queue(*words).code == 2
    assert queue(*words, "-g", guild, "--source", "somebody").code == 3
    assert queue("add", "transcribe", "--session", 9**9, "--bump", "-g", guild).code == 3
    assert queue("add", "transcribe", "--session", session, "--reason", "x").code == 2

    assert len(session_jobs(session)) == before
    assert [record.changed["refusal"] for record in events_page(guild)] == [
        "no-such-session",
        "not-granted",
    ]


def test_the_list_marks_the_lane_and_what_has_no_place(guild: GuildId) -> None:
    tracks_alone(guild, 1)
    session = stored_session(guild, title="retrospective")
    [track] = track_ids(session)
    [newer] = tracks_alone(guild, 1)
    write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", newer)
    queue("bump", document_id(session), "-g", guild, "--reason", "at noon")

    told, body = queue("list", "-g", guild).out, queue("list", "-g", guild, "--json").json

    assert told.splitlines()[1].startswith("next")
    assert f"job {track} speaker 1 of session {session}, pulled in by {OPERATOR}" in told
    assert f"job {document_id(session)} document of session {session}, named by" in told
    assert "at noon" in told
    assert f"no place in line: job {newer}" in told
    assert [(job["job_id"], job["named"]) for job in body["next"]] == [
        (str(track), False),
        (str(document_id(session)), True),
    ]
    assert [job["job_id"] for job in body["unplaced"]] == [str(newer)]
    json.dumps(body)


def test_other_guilds_lanes_are_not_listed(guild: GuildId, tmp_path: Path) -> None:
    other = rooted_guild(tmp_path, MAGPIE)
    [elsewhere] = tracks_alone(other, 1)
    queue("bump", elsewhere, "-g", other)

    assert queue("list", "-g", guild, "--json").json["next"] == []
