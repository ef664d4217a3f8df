"""``manage.py demo``: what an empty database holds afterwards, and that no other is touched."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import soundfile
from django.contrib.auth.models import User
from django.test import override_settings
from pytest_django.plugin import DjangoDbBlocker

from guildqueue.domain.job import JobState
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import QueueSnapshot, SessionState
from guildqueue.services.browse import events_page, session_detail
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.services.tokens import token_bearer
from recordings.speech import SpeechMissing, Voice, synthesise
from tests.builders import MAGPIE, STARLING
from tests.conftest import empty_tables
from tests.db.command import Ended, run

BOTH = pytest.mark.parametrize("guild_id", [STARLING, MAGPIE])


@dataclass(frozen=True)
class Demo:
    """A database that was empty before ``first`` ran."""

    folder: Path
    first: Ended
    took_s: float

    @property
    def sign_ins(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.folder / "demo.json").read_text())
        return read

    @property
    def media(self) -> Path:
        return self.folder / "media"


@pytest.fixture(scope="module")
def demo(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Demo]:
    try:
        synthesise("", Voice("en-us+f3", 150, 50))
    except SpeechMissing as missing:
        pytest.skip(f"requirements-worker.txt is not installed: {missing}")
    folder = tmp_path_factory.mktemp("demo")
    settings = {"DATA_DIR": folder, "MEDIA_ROOT": str(folder / "media"), "PORT": 8123}
    with django_db_blocker.unblock(), override_settings(**settings):
        began = time.process_time()
        yield Demo(folder, run("demo"), time.process_time() - began)
        empty_tables()


def details(snapshot: QueueSnapshot) -> list[SessionDetail]:
    return [session_detail(s.session_id) for s in (*snapshot.sessions, *snapshot.finished)]


def test_the_demo_says_what_it_made_and_how_to_sign_in(demo: Demo) -> None:
    assert demo.first.code == 0
    assert str(demo.folder / "demo.json") in demo.first.out
    assert demo.took_s < 40


@BOTH
def test_a_guild_has_about_25_sessions_in_every_state_but_running(
    demo: Demo, guild_id: Any
) -> None:
    snapshot = queue_snapshot(guild_id)
    found = details(snapshot)

    states = Counter(detail.entry.state for detail in found)
    assert 22 <= len(found) <= 28
    assert set(states) == set(SessionState) - {SessionState.RUNNING}
    assert states[SessionState.QUEUED] >= 8
    assert len({detail.entry.title for detail in found}) > 12
    assert {detail.entry.participants for detail in found} <= set(range(3, 12))


@BOTH
def test_every_waiting_track_has_audio_of_the_length_it_claims(demo: Demo, guild_id: Any) -> None:
    waiting = [
        track.job
        for detail in details(queue_snapshot(guild_id))
        for track in detail.tracks
        if track.job.state == JobState.PENDING
    ]

    assert len(waiting) > 50
    for job in waiting:
        length_s = soundfile.info(demo.media / str(job.payload["uri"])).duration
        assert job.audio_seconds is None or abs(job.audio_seconds - length_s) < 0.01
    unmeasured = [job for job in waiting if job.audio_seconds is None]
    assert len(unmeasured) < len(waiting) / 10


@BOTH
def test_what_is_done_can_be_read(demo: Demo, guild_id: Any) -> None:
    done = [
        detail
        for detail in details(queue_snapshot(guild_id))
        if detail.entry.state is SessionState.DONE
    ]

    assert len(done) >= 4
    for detail in done:
        assert detail.document is not None
        assert detail.document.job.result is not None
        document = json.loads((demo.media / detail.document.job.result["path"]).read_text())
        assert document["title"] == detail.entry.title
        assert len(document["turns"]) > 10
        speakers = {turn["speaker"] for turn in document["turns"]}
        assert speakers == {track.job.name for track in detail.tracks}


@BOTH
def test_a_dead_track_blocks_its_document_and_says_why(demo: Demo, guild_id: Any) -> None:
    dead = [
        detail
        for detail in details(queue_snapshot(guild_id))
        if detail.entry.state is SessionState.DEAD
    ]

    assert dead
    for detail in dead:
        assert [t.job.error for t in detail.tracks if t.job.state == JobState.DEAD] != [None]
        assert detail.document is not None
        assert detail.document.waits_for == "dependency-failed"


@BOTH
def test_people_moved_and_held_some_and_the_ledger_has_it(demo: Demo, guild_id: Any) -> None:
    snapshot = queue_snapshot(guild_id)

    types = Counter(record.type for record in events_page(guild_id))
    assert {"SessionMoved", "Held", "Cancelled"} <= set(types)
    movers = {entry.last_move.by for entry in snapshot.sessions if entry.last_move}
    assert movers
    assert all(mover.startswith("user:") for mover in movers)
    assert all(entry.hold.reason for entry in snapshot.sessions if entry.hold)


@BOTH
def test_the_past_is_in_the_past_and_nothing_in_the_future(demo: Demo, guild_id: Any) -> None:
    snapshot = queue_snapshot(guild_id)

    ages_s = [
        (snapshot.at - (entry.started_at or snapshot.at)).total_seconds()
        for entry in (*snapshot.sessions, *snapshot.finished)
    ]
    assert 0 <= min(ages_s) < 86_400 < max(ages_s) < 14 * 86_400
    ended = [entry.ended_at for entry in snapshot.finished if entry.ended_at]
    assert len(ended) > 4
    assert max(ended) < snapshot.at
    assert (snapshot.at - min(ended)).total_seconds() > 86_400


def test_the_sign_ins_are_the_owners_alone_and_work(demo: Demo) -> None:
    path = demo.folder / "demo.json"
    sign_ins = demo.sign_ins

    assert path.stat().st_mode & 0o777 == 0o600
    assert sign_ins["url"].startswith("http://127.0.0.1:8123")
    assert [(user["username"], user["guilds"]) for user in sign_ins["users"]] == [
        ("ada", [str(STARLING)]),
        ("ivo", [str(MAGPIE)]),
    ]
    for user in sign_ins["users"]:
        assert User.objects.get(username=user["username"]).check_password(user["password"])
        bearer = token_bearer(user["token"])
        assert bearer is not None
        assert bearer.username == user["username"]


def test_the_workers_token_has_both_guilds_and_a_workers_verbs(demo: Demo) -> None:
    bearer = token_bearer(demo.sign_ins["worker_token"])

    assert bearer is not None
    assert bearer.guild_ids == {STARLING, MAGPIE}
    assert {"read", "claim"} <= bearer.verbs


@BOTH
def test_the_account_that_made_the_demo_may_say_at_once_what_runs_next(
    demo: Demo, guild_id: Any
) -> None:
    waiting = queue_snapshot(guild_id).sessions[-1].session_id
    words = ("--session", waiting, "-g", guild_id)

    by_operator = run("queue", "bump", *words, "--reason", "the board meets at noon")
    by_script = run("queue", "unbump", *words, "--source", "nightly-import")
    by_page = run("queue", "bump", *words, "--source", "console")
    run("queue", "unbump", *words)

    assert [done.code for done in (by_operator, by_script, by_page)] == [0, 0, 0]
    asked = [record.by.partition(":")[0] for record in events_page(guild_id)[:4]]
    assert asked == ["operator", "source", "source", "operator"]


def test_a_second_time_changes_nothing_and_says_so(demo: Demo) -> None:
    before = (demo.sign_ins, queue_snapshot(STARLING).version.partition(".")[2])

    again = run("demo")

    assert again.code == 0
    assert "not empty" in again.out
    assert (demo.sign_ins, queue_snapshot(STARLING).version.partition(".")[2]) == before
