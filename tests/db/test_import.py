"""A path goes in and its sessions are in the queue, once, with audio that a worker finds."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from benchmarks.ami_sessions import sessions as ami_sessions
from guildqueue.domain.errors import GuildNotFound
from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_session import NewParticipant
from guildqueue.services.browse import guild_record, session_detail
from guildqueue.services.snapshot import queue_snapshot
from recordings import importer
from recordings.craig import read_craig
from recordings.errors import GuildNeeded, RecordingRefused
from recordings.importer import Imported, import_path
from recordings.placing import place_tracks
from tests.builders import MAGPIE, STARLING, stored_guild
from tests.recording_builders import (
    audio,
    craig_files,
    craig_folder,
    craig_zip,
    empty_flac,
    info_text,
    streamed_flac,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def media(tmp_path: Path) -> Path:
    return tmp_path / "media"


def imported(path: Path, media: Path, *, guild: GuildId | None = None) -> list[Imported]:
    return import_path(path, guild=guild, media_root=media, on_progress=lambda *_: None)


def files_below(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*")) if folder.exists() else []


def uris(found: Imported) -> list[str]:
    return [str(d.job.payload["uri"]) for d in session_detail(found.session_id).tracks]


def test_a_download_makes_its_guild_its_session_and_a_job_a_speaker(
    tmp_path: Path, media: Path
) -> None:
    (found,) = imported(craig_zip(tmp_path), media)

    detail = session_detail(found.session_id)
    assert (found.created, found.guild_id, found.n_tracks) == (True, STARLING, 2)
    assert guild_record(STARLING).name == "Starling Guild"
    assert (detail.entry.title, detail.external_id) == ("retrospective", "a1RetroEight")
    assert NewParticipant(name="ada", user_id="118000000000001001") in detail.participants
    assert [d.job.audio_seconds for d in detail.tracks] == [0.5, 0.5]
    assert detail.document is not None


def test_a_zips_audio_lies_below_the_media_folder_where_its_jobs_say(
    tmp_path: Path, media: Path
) -> None:
    (found,) = imported(craig_zip(tmp_path), media)

    home = f"audio/{STARLING}/a1RetroEight"
    assert uris(found) == [f"{home}/1-ada.flac", f"{home}/2-goran.flac"]
    assert [(media / uri).read_bytes() for uri in uris(found)] == [audio(), audio()]


def test_a_folders_audio_stays_where_it_is(tmp_path: Path, media: Path) -> None:
    path = craig_folder(tmp_path)

    (found,) = imported(path, media)

    assert uris(found) == [str(path / "1-ada.flac"), str(path / "2-goran.flac")]
    assert not media.exists()


@pytest.mark.parametrize("build", [craig_zip, craig_folder])
def test_importing_twice_changes_nothing(tmp_path: Path, media: Path, build: object) -> None:
    assert callable(build)
    path = build(tmp_path)
    (first,) = imported(path, media)
    before = (files_below(media), queue_snapshot(STARLING).sessions)

    (second,) = imported(path, media)

    assert (second.session_id, second.created) == (first.session_id, False)
    assert (files_below(media), queue_snapshot(STARLING).sessions) == before


def test_another_download_of_the_same_recording_leaves_the_first_alone(
    tmp_path: Path, media: Path
) -> None:
    (first,) = imported(craig_zip(tmp_path), media)
    before = files_below(media)

    (second,) = imported(craig_zip(tmp_path, craig_files(extension="ogg"), name="b.zip"), media)

    assert (second.session_id, second.created) == (first.session_id, False)
    assert files_below(media) == before


def test_an_import_renames_no_guild(tmp_path: Path, media: Path) -> None:
    stored_guild(STARLING, name="The Starlings")

    imported(craig_zip(tmp_path), media)

    assert guild_record(STARLING).name == "The Starlings"


def test_a_named_guild_overrides_the_downloads_own(tmp_path: Path, media: Path) -> None:
    stored_guild(MAGPIE, name="Magpie Collective")

    (found,) = imported(craig_zip(tmp_path), media, guild=MAGPIE)

    assert found.guild_id == MAGPIE
    with pytest.raises(GuildNotFound):
        guild_record(STARLING)


def test_a_named_guild_that_is_not_there_gets_nothing(tmp_path: Path, media: Path) -> None:
    with pytest.raises(GuildNotFound):
        imported(craig_zip(tmp_path), media, guild=MAGPIE)

    assert files_below(media) == []


@pytest.mark.parametrize("guild", [None, "Starling Guild"])
def test_a_download_without_a_guilds_id_needs_one_named(
    tmp_path: Path, media: Path, guild: str | None
) -> None:
    path = craig_zip(tmp_path, craig_files(info=info_text(guild=guild)))
    stored_guild(MAGPIE)

    with pytest.raises(GuildNeeded, match="give one with -g"):
        imported(path, media)
    assert imported(path, media, guild=MAGPIE)[0].guild_id == MAGPIE


@pytest.mark.parametrize(
    ("track", "fault"),
    [
        (b"", "2-goran.flac is empty"),
        (empty_flac(), "2-goran.flac holds no audio"),
        (audio()[:-100], "2-goran.flac audio is cut short"),
        (streamed_flac()[:-1], "2-goran.flac audio is cut short"),
        (b"MZ" * 500, "2-goran.flac is not audio"),
    ],
)
@pytest.mark.parametrize("build", [craig_zip, craig_folder])
def test_a_download_with_a_bad_track_leaves_nothing_behind(
    tmp_path: Path, media: Path, build: object, track: bytes, fault: str
) -> None:
    assert callable(build)
    path = build(tmp_path, craig_files() | {"2-goran.flac": track})

    with pytest.raises(RecordingRefused, match=fault) as refusal:
        imported(path, media)

    assert str(refusal.value) == f"{path}: {refusal.value.fault}"
    assert files_below(media) == []
    with pytest.raises(GuildNotFound):
        guild_record(STARLING)


def test_broken_bytes_inside_a_zip_leave_nothing_behind(tmp_path: Path, media: Path) -> None:
    path = craig_zip(tmp_path)
    data = bytearray(path.read_bytes())
    data[data.find(b"fLaC") + 500] ^= 0xFF
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match=r"1-ada\.flac is broken: Bad CRC"):
        imported(path, media)

    assert files_below(media) == []


def test_an_entry_that_unpacks_to_more_than_it_declares_is_refused(
    tmp_path: Path, media: Path
) -> None:
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in craig_files().items():
            archive.writestr(name, content)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match=r"2-goran\.flac"):
        imported(path, media)

    assert files_below(media) == []


def test_audio_is_taken_back_when_the_queue_does_not_take_the_session(
    tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionError("the database is away")

    monkeypatch.setattr(importer, "create_session", away)

    with pytest.raises(ConnectionError):
        imported(craig_zip(tmp_path), media)

    assert files_below(media) == []


def test_a_media_folder_that_cannot_be_written_is_said_in_a_line(
    tmp_path: Path, media: Path
) -> None:
    media.write_text("a file in the way")

    with pytest.raises(RecordingRefused, match="cannot be stored: Not a directory"):
        imported(craig_zip(tmp_path), media)


def test_what_a_killed_import_left_is_swept_a_day_later(tmp_path: Path, media: Path) -> None:
    home = media / "audio" / str(STARLING)
    old, young = home / ".a1RetroEight.dead", home / ".a1RetroEight.live"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))

    imported(craig_zip(tmp_path), media)

    assert (old.exists(), young.exists()) == (False, True)


def test_a_file_name_of_any_length_and_shape_can_be_stored(tmp_path: Path, media: Path) -> None:
    odd = f'1-{"x" * 200}:*?"<>|.FLAC'
    files = {"info.txt": info_text(speakers=["ada (1)"]), odd: audio()}

    (found,) = imported(craig_zip(tmp_path, files), media)

    (uri,) = uris(found)
    assert (media / uri).is_file()
    assert uri.endswith(".flac")


def test_progress_runs_from_track_to_track_up_to_one(tmp_path: Path, media: Path) -> None:
    heard: list[tuple[str, float]] = []

    import_path(
        craig_zip(tmp_path),
        guild=None,
        media_root=media,
        on_progress=lambda what, part: heard.append((what, part)),
    )

    parts = [part for _, part in heard]
    assert parts == sorted(parts)
    assert heard[-1] == ("retrospective", 1.0)


def test_rttm_and_json_lines_need_a_guild(tmp_path: Path, media: Path) -> None:
    rttm, jsonl = tmp_path / "a.rttm", tmp_path / "a.jsonl"
    rttm.write_text("SPEAKER EN1 1 0 2 <NA> <NA> ada <NA> <NA>\n")
    jsonl.write_text('{"title": "standup"}\n')

    for path in (rttm, jsonl):
        with pytest.raises(GuildNeeded):
            imported(path, media)
        with pytest.raises(GuildNotFound):
            imported(path, media, guild=MAGPIE)


def test_a_bad_line_keeps_the_good_ones_of_its_file_out(tmp_path: Path, media: Path) -> None:
    stored_guild(STARLING)
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "standup"}\n{"title": 5}\n')

    with pytest.raises(RecordingRefused, match="line 2"):
        imported(path, media, guild=STARLING)

    assert queue_snapshot(STARLING).sessions == ()


def test_the_example_meetings_make_a_queue_and_come_in_once(
    shared_data: Path, tmp_path: Path, media: Path
) -> None:
    stored_guild(STARLING)
    path = tmp_path / "ami.jsonl"
    meetings = (shared_data / "ami" / "meetings.jsonl").read_text().splitlines()
    path.write_text("\n".join(ami_sessions(meetings)))

    first = imported(path, media, guild=STARLING)
    second = imported(path, media, guild=STARLING)

    assert len(first) == 170
    assert sum(found.n_tracks for found in first) == 678
    assert [found.session_id for found in second] == [found.session_id for found in first]
    assert not any(found.created for found in second)
    seconds = json.loads(meetings[0])["speakers"].values()
    tracks = session_detail(first[0].session_id).tracks
    assert [d.job.audio_seconds for d in tracks] == list(seconds)


def test_the_example_downloads_fill_two_guilds(shared_data: Path, media: Path) -> None:
    paths = sorted((shared_data / "craig").glob("*.zip"))

    found = [session for path in paths for session in imported(path, media)]

    assert [(f.guild_id, f.n_tracks) for f in found] == [
        (STARLING, 8),
        (STARLING, 2),
        (STARLING, 1),
        (MAGPIE, 3),
    ]
    assert all((media / uri).is_file() for session in found for uri in uris(session))


@pytest.mark.parametrize(
    ("name", "data"),
    [("none.zip", None), ("empty.zip", b""), ("a.txt", b"hello"), ("a.zip", b"hello")],
)
def test_a_path_that_holds_no_recording_is_refused(
    tmp_path: Path, media: Path, name: str, data: bytes | None
) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)

    with pytest.raises(RecordingRefused) as refusal:
        imported(path, media)

    assert str(refusal.value).startswith(f"{path}: ")


def test_the_same_download_placed_twice_at_once_never_shares_a_folder(
    tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    download = read_craig(craig_zip(tmp_path))
    monkeypatch.setattr("recordings.placing._holds", lambda *_: False)

    folders = {
        place_tracks(
            download, guild_id=STARLING, media_root=media, on_progress=lambda *_: None
        ).new_folder
        for _ in range(3)
    }

    assert {folder.name for folder in folders if folder} == {
        "a1RetroEight",
        "a1RetroEight.2",
        "a1RetroEight.3",
    }
