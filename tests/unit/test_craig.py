"""What a Craig download says, zip or folder, and which ones are turned away."""

import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildqueue.domain.new_session import NewParticipant
from recordings.craig import CraigDownload, read_craig
from recordings.craig_info import InfoFault, parse_info
from recordings.errors import RecordingRefused
from tests.recording_builders import (
    GUILD_ID,
    audio,
    craig_files,
    craig_folder,
    craig_zip,
    info_text,
)

Builder = Callable[..., Path]


def names(download: CraigDownload) -> list[str]:
    return [track.name for track in download.tracks]


@pytest.fixture(params=[craig_zip, craig_folder], ids=["zip", "folder"])
def build(request: pytest.FixtureRequest) -> Builder:
    builder: Builder = request.param
    return builder


def test_a_download_says_its_guild_its_channel_its_start_and_its_people(
    build: Builder, tmp_path: Path
) -> None:
    found = read_craig(build(tmp_path))

    assert (found.guild_id, found.guild_name) == (GUILD_ID, "Starling Guild")
    assert (found.recording_id, found.title) == ("a1RetroEight", "retrospective")
    assert found.started_at == datetime(2026, 11, 23, 18, 0, 4, 211000, tzinfo=UTC)
    assert found.participants == (
        NewParticipant(name="ada", user_id="118000000000001001"),
        NewParticipant(name="goran", user_id="118000000000001002"),
    )
    assert [track.file_name for track in found.tracks] == ["1-ada.flac", "2-goran.flac"]


@pytest.mark.parametrize("extension", ["flac", "wav", "ogg", "oga", "opus", "aac", "mp3"])
def test_every_extension_is_a_track(build: Builder, tmp_path: Path, extension: str) -> None:
    found = read_craig(build(tmp_path, craig_files(extension=extension)))

    assert [track.file_name for track in found.tracks] == [
        f"1-ada.{extension}",
        f"2-goran.{extension}",
    ]


def test_tracks_beyond_nine_are_zero_padded_and_stay_in_order(
    build: Builder, tmp_path: Path
) -> None:
    speakers = [f"s{number} ({number})" for number in range(1, 13)]

    found = read_craig(build(tmp_path, craig_files(speakers=speakers)))

    assert [track.number for track in found.tracks] == list(range(1, 13))
    assert names(found) == [f"s{number}" for number in range(1, 13)]


def test_a_file_without_a_user_part_takes_the_name_of_its_line(
    build: Builder, tmp_path: Path
) -> None:
    files = {"info.txt": info_text(), "1.flac": audio(), "2-.flac": audio()}

    assert names(read_craig(build(tmp_path, files))) == ["ada", "goran"]


def test_other_files_are_ignored(build: Builder, tmp_path: Path) -> None:
    files = craig_files() | {"raw.dat": b"x", "ada.flac": b"x", "3-notes.txt": b"x"}

    assert names(read_craig(build(tmp_path, files))) == ["ada", "goran"]


def test_people_who_never_spoke_leave_gaps_in_the_numbers(build: Builder, tmp_path: Path) -> None:
    files = {"info.txt": info_text(), "2-ada.flac": audio(), "5-goran.flac": audio()}

    found = read_craig(build(tmp_path, files))

    assert [(track.number, track.name) for track in found.tracks] == [(2, "ada"), (5, "goran")]


def test_somebody_who_came_back_has_two_tracks_and_counts_once(
    build: Builder, tmp_path: Path
) -> None:
    speakers = ["ada (1)", "goran (2)", "ada (1)"]

    found = read_craig(build(tmp_path, craig_files(speakers=speakers)))

    assert names(found) == ["ada", "goran", "ada"]
    assert [person.user_id for person in found.participants] == ["1", "2"]


def test_a_zip_around_one_folder_is_read_from_that_folder(tmp_path: Path) -> None:
    files = {f"craig-a1/{name}": data for name, data in craig_files().items()}

    found = read_craig(craig_zip(tmp_path, files))

    assert found.base == "craig-a1/"
    assert [track.file_name for track in found.tracks] == ["1-ada.flac", "2-goran.flac"]


def test_the_example_downloads_are_read(shared_data: Path) -> None:
    found = [read_craig(path) for path in sorted((shared_data / "craig").glob("*.zip"))]

    assert [(d.recording_id, d.title, len(d.tracks)) for d in found] == [
        ("a1RetroEight", "retrospective", 8),
        ("b2ShortOne", "standup", 2),
        ("c3Solo", "voice memo", 1),
        ("d4OtherGuild", "general", 3),
    ]
    assert names(found[0])[5] == "faye"


@pytest.mark.parametrize(
    ("line", "name", "user_id"),
    [
        ("ada (7)", "ada", "7"),
        ("ada#0 (7)", "ada", "7"),
        ("faye#0042 (7)", "faye", "7"),
        ("faye#0042", "faye", None),
        ("just a name", "just a name", None),
        ("a (b) (7)", "a (b)", "7"),
        ("(7)", "", "7"),
        ("C#", "C#", None),
        ("line\u2028separator (7)", "line\u2028separator", "7"),
    ],
)
def test_a_line_of_a_track_is_a_name_and_perhaps_an_id(
    line: str, name: str, user_id: str | None
) -> None:
    (speaker,) = parse_info(info_text(speakers=[line])).speakers

    assert (speaker.name, speaker.user_id) == (name, user_id)


def test_two_people_of_one_name_keep_the_number_that_tells_them_apart() -> None:
    info = parse_info(info_text(speakers=["sam#1111", "sam#2222", "ada#3333"]))

    assert [speaker.name for speaker in info.speakers] == ["sam#1111", "sam#2222", "ada"]


def test_notes_after_the_tracks_are_no_tracks() -> None:
    info = parse_info(info_text(after=["", "Notes:", "\t0:01:00.00: ada (1) laughs"]))

    assert len(info.speakers) == 2


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(ending: str, mark: bytes) -> None:
    data = mark + info_text().replace(b"\r\n", ending.encode())

    assert parse_info(data) == parse_info(info_text())


@pytest.mark.parametrize("guild", [None, "Starling Guild", ""])
def test_a_guild_line_may_carry_no_id(guild: str | None) -> None:
    assert parse_info(info_text(guild=guild)).guild_id is None


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "is empty"),
        (b"\r\n\r\n", "is empty"),
        (b"hello", "does not begin with a Recording line"),
        (info_text(recording="../../etc"), "recording id"),
        (info_text(recording="a" * 65), "recording id"),
        (info_text(recording=""), "does not begin with a Recording line"),
        (info_text(guild="Big (99999999999999999999)"), "out of range"),
        (info_text(guild="Nil (0)"), "out of range"),
        (info_text(start="yesterday"), "no date"),
        (info_text(start="0001-01-01T00:00:00+14:00"), "no date"),
        (info_text(speakers=[]), "lists no tracks"),
        (info_text().replace(b"Channel:", b"Channel"), "no colon"),
        (info_text().replace(b"Requester:", b"Channel:"), "again"),
        (info_text().replace(b"ada", b"\xff\xfe"), "not UTF-8"),
        (info_text().decode().encode("utf-16"), "not UTF-8"),
        (info_text().replace(b"ada", b"a\0a"), "NUL"),
        (info_text() + b"x" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_an_info_that_no_download_writes_is_a_fault(data: bytes, fault: str) -> None:
    with pytest.raises(InfoFault, match=fault):
        parse_info(data)


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for tried in (data, info_text() + data, b"Recording a\n" + data):
        with suppress(InfoFault):
            assert parse_info(tried).speakers


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"1-ada.flac": b"x"}, "no info.txt"),
        ({"info.txt": b"x"}, "Recording line"),
        ({"info.txt": info_text()}, "no audio tracks"),
        ({"info.txt": info_text(), "1-ada.flac": b"x"}, r"track 2 \(goran\) has no audio file"),
        ({"info.txt": info_text(), "1-a.flac": b"x", "01-b.wav": b"x"}, "both track 1"),
    ],
)
def test_a_download_with_something_missing_is_refused(
    build: Builder, tmp_path: Path, files: dict[str, bytes], fault: str
) -> None:
    path = build(tmp_path, files)

    with pytest.raises(RecordingRefused, match=fault) as refusal:
        read_craig(path)

    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../1-ada.flac", "escapes"),
        ("a/../../1-ada.flac", "escapes"),
        ("/etc/passwd", "escapes"),
        ("C:/windows/1-ada.flac", "escapes"),
        ("..\\1-ada.flac", "escapes"),
        ("2-goran.flac", "twice"),
        ("2-GORAN.flac", "twice"),
        ("deep/info.txt", "2 info.txt"),
        ("3-eve.flac/", "folder, not a track"),
        ("3-eve\n.flac\x1b[2J/../..", "escapes"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_with_a_bad_name_refuses_the_zip(tmp_path: Path, name: str, fault: str) -> None:
    path = craig_zip(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"x")

    with pytest.raises(RecordingRefused, match=fault) as refusal:
        read_craig(path)

    assert str(refusal.value).isprintable()


def test_a_name_that_a_nul_cuts_short_refuses_the_zip(tmp_path: Path) -> None:
    path = craig_zip(tmp_path, craig_files() | {"1-ada.flacXevil": b"x"})
    path.write_bytes(path.read_bytes().replace(b"1-ada.flacXevil", b"1-ada.flac\0evil"))

    with pytest.raises(RecordingRefused, match="NUL"):
        read_craig(path)


@pytest.mark.parametrize(
    ("mode", "fault"), [(0o120777, "a link"), (0o010644, "neither"), (0o020644, "neither")]
)
def test_an_entry_that_is_no_file_refuses_the_zip(tmp_path: Path, mode: int, fault: str) -> None:
    path = craig_zip(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("3-eve.flac")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")

    with pytest.raises(RecordingRefused, match=fault):
        read_craig(path)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = craig_zip(tmp_path)
    data = bytearray(path.read_bytes())
    for signature, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(signature) + flags_at] |= 1
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match="encrypted"):
        read_craig(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("info.txt", info_text())
        archive.writestr("1-ada.wav", bytes(20 * 2**20))

    with pytest.raises(RecordingRefused, match="zip bomb"):
        read_craig(path)


def test_a_zip_that_declares_more_than_a_disk_is_refused(tmp_path: Path) -> None:
    path = craig_zip(tmp_path)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 0xFFFF_FFF0)
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match="zip bomb"):
        read_craig(path)


def test_a_zip_of_very_many_files_is_refused(tmp_path: Path) -> None:
    path = craig_zip(tmp_path, craig_files() | {f"x{n}": b"" for n in range(1001)})

    with pytest.raises(RecordingRefused, match="more than 1000 files"):
        read_craig(path)


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = craig_zip(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.getinfo("1-ada.flac")
        for number in range(3, 9):
            twin = zipfile.ZipInfo(f"{number}-eve.flac")
            twin.header_offset, twin.CRC = first.header_offset, first.CRC
            twin.file_size = twin.compress_size = first.file_size
            archive.filelist.append(twin)
        archive._didModify = True  # type: ignore[attr-defined]

    with pytest.raises(RecordingRefused, match="overlap"):
        read_craig(path)


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.99])
def test_a_zip_that_was_cut_is_refused(tmp_path: Path, keep: float) -> None:
    path = craig_zip(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])

    with pytest.raises(RecordingRefused, match="not a zip"):
        read_craig(path)


def test_a_folder_does_not_lead_out_of_itself(tmp_path: Path) -> None:
    outside = tmp_path / "secret.flac"
    outside.write_bytes(audio())
    path = craig_folder(tmp_path)
    (path / "2-goran.flac").unlink()
    (path / "2-goran.flac").symlink_to(outside)

    with pytest.raises(RecordingRefused, match="escapes"):
        read_craig(path)


def test_a_folder_named_like_a_track_is_no_track(tmp_path: Path) -> None:
    path = craig_folder(tmp_path)
    (path / "3-eve.flac").mkdir()

    with pytest.raises(RecordingRefused, match="folder, not a track"):
        read_craig(path)
