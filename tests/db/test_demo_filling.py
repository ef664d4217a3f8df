"""Filling for the demo: all of it or nothing, once, and without what is not there."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections

from guildqueue.domain.ids import UserId
from guildqueue.domain.snapshot import SessionState
from guildqueue.services.browse import guild_list, session_detail
from guildqueue.services.empty_database import is_empty
from guildqueue.services.requeue import requeue_session
from guildqueue.services.snapshot import queue_snapshot
from recordings import demo, demo_audio
from recordings.demo_book import guilds, recordings
from recordings.demo_scripts import Line
from recordings.speech import RecordedTrack, SpeechMissing, SpokenLine
from tests.builders import MAGPIE, STARLING, caller, stored_guild

URL = "http://127.0.0.1:8000"


def fill(folder: Path, *, url: str = URL) -> str:
    return demo.fill(
        media_root=folder / "media",
        sign_ins=folder / "demo.json",
        url=url,
        say=lambda _sentence: None,
    )


def mute_meeting(folder: Path, lines: Sequence[Line]) -> tuple[RecordedTrack, ...]:
    """A meeting of which nothing is heard, recorded in no time: a second a line."""
    folder.mkdir(parents=True)
    tracks = []
    for number, speaker in enumerate(dict.fromkeys(line.speaker for line in lines), 1):
        path = folder / f"{number}.flac"
        path.write_bytes(b"no sound")
        spoken = tuple(
            SpokenLine(start_s=float(at), end_s=at + 1.0, text=line.text)
            for at, line in enumerate(lines)
            if line.speaker == speaker
        )
        length_s = spoken[-1].end_s
        tracks.append(RecordedTrack(speaker=speaker, path=path, seconds=length_s, lines=spoken))
    return tuple(tracks)


@pytest.fixture
def quick(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    """An empty database, a data directory, and recordings that take no time."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(demo_audio, "record_meeting", mute_meeting)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_fill_that_fails_leaves_nothing_and_the_next_one_fills(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_path: Path, _content: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(demo, "write_sign_ins", full_disk)
        with pytest.raises(OSError, match="No space left"):
            fill(tmp_path)

    assert is_empty()
    assert files(tmp_path) == []

    assert "50 meetings" in fill(tmp_path)
    assert not is_empty()


def test_a_database_with_a_guild_is_left_alone(quick: None, tmp_path: Path) -> None:
    stored_guild(7, name="A guild of somebody's own")

    assert fill(tmp_path) == demo.NOT_EMPTY

    assert files(tmp_path) == []
    assert User.objects.count() == 0


def test_a_database_with_a_user_is_left_alone(quick: None, tmp_path: Path) -> None:
    User.objects.create_user("root")

    assert fill(tmp_path) == demo.NOT_EMPTY

    assert files(tmp_path) == []


def test_of_two_that_fill_together_one_does(quick: None, tmp_path: Path) -> None:
    def fill_and_leave(name: str) -> str:
        try:
            return fill(tmp_path / name)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(fill_and_leave, ("one", "two")))

    assert said[0] == demo.NOT_EMPTY
    assert "50 meetings" in said[1]
    assert len(list(tmp_path.glob("*/demo.json"))) == 1


def test_without_speech_there_are_guilds_and_sign_ins_but_no_meetings(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mute(_folder: Path, _lines: object) -> Any:
        raise SpeechMissing("the library is not installed")

    monkeypatch.setattr(demo_audio, "record_meeting", mute)

    fill(tmp_path)

    assert {path.name for path in files(tmp_path)} == {"demo.json", "queue.toml"}
    ada = User.objects.get(username="ada")
    assert [guild.name for guild in guild_list(UserId(ada.pk))] == ["Starling Guild"]
    assert queue_snapshot(STARLING).sessions == ()


def test_what_a_killed_fill_left_is_taken_away(quick: None, tmp_path: Path) -> None:
    left = tmp_path / "media" / ".demo" / "assembly" / "1.flac"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")

    fill(tmp_path)

    assert not (tmp_path / "media" / ".demo").exists()


def test_a_start_on_another_port_corrects_the_address_and_nothing_else(
    quick: None, tmp_path: Path
) -> None:
    fill(tmp_path)
    before = json.loads((tmp_path / "demo.json").read_text())

    fill(tmp_path, url="http://127.0.0.1:9000")

    after = json.loads((tmp_path / "demo.json").read_text())
    assert after == {**before, "url": "http://127.0.0.1:9000"}
    assert (tmp_path / "demo.json").stat().st_mode & 0o777 == 0o600


def test_fellow_administrators_have_no_password_and_no_token(quick: None, tmp_path: Path) -> None:
    fill(tmp_path)

    for name in ("bjork", "chen"):
        user = User.objects.get(username=name)
        assert not user.has_usable_password()
        assert {guild.id for guild in guild_list(UserId(user.pk))} == {STARLING, MAGPIE}
    assert "bjork" not in (tmp_path / "demo.json").read_text()


def test_moves_by_several_people_stand_where_they_put_them(quick: None, tmp_path: Path) -> None:
    fill(tmp_path)

    in_line = queue_snapshot(STARLING).sessions
    titles = [entry.title for entry in in_line]
    movers = {entry.last_move.by for entry in in_line if entry.last_move}
    assert movers == {"user:ada", "user:bjork", "user:chen"}
    assert titles[:2] == ["Retrospective", "Treasury review"]
    assert titles[-1].startswith("Lore council")


def test_a_finished_meeting_can_be_done_again_from_its_audio(quick: None, tmp_path: Path) -> None:
    fill(tmp_path)
    done = next(e for e in queue_snapshot(STARLING).finished if e.state is SessionState.DONE)

    requeue_session(done.session_id, guild_id=STARLING, caller=caller())

    tracks = session_detail(done.session_id).tracks
    assert all((tmp_path / "media" / str(t.job.payload["uri"])).is_file() for t in tracks)


def test_meetings_of_both_guilds_share_the_sound_on_the_disk(quick: None, tmp_path: Path) -> None:
    fill(tmp_path)

    audio = files(tmp_path / "media" / "audio")
    n_voices = sum(recording.voices for recording in recordings().values())
    assert len({path.stat().st_ino for path in audio}) <= n_voices + 1
    assert len(audio) > 1.5 * n_voices


@pytest.mark.parametrize("guild", guilds(), ids=lambda guild: guild.name)
def test_everybody_with_a_track_was_there(guild: Any) -> None:
    for session in guild.sessions:
        if session.says and session.state != "recording":
            assert recordings()[session.says].voices <= len(session.people)
        assert len(set(session.people)) == len(session.people)
    assert {move.by for move in guild.moves} <= set(guild.administrators)
