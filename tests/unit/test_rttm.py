"""RTTM: one session a file id, one track a speaker, the sum of what they spoke."""

import json
from pathlib import Path

import pytest

from guildqueue.domain.new_session import NewTrack
from recordings.errors import RecordingRefused
from recordings.rttm import read_rttm


def turn(
    *, file: str = "EN1", onset: str = "0.0", duration: str = "1.5", speaker: str = "ada"
) -> str:
    return f"SPEAKER {file} 1 {onset} {duration} <NA> <NA> {speaker} <NA> <NA>"


def rttm(folder: Path, *lines: str) -> Path:
    path = folder / "meeting.rttm"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_speaker_is_one_track_as_long_as_the_sum_of_their_turns(tmp_path: Path) -> None:
    path = rttm(tmp_path, *[turn(duration="0.1")] * 10, turn(speaker="ben", duration="2"))

    (session,) = read_rttm(path)

    assert session.tracks == (
        NewTrack(name="ada", uri=None, audio_seconds=1.0),
        NewTrack(name="ben", uri=None, audio_seconds=2.0),
    )
    assert [person.name for person in session.participants] == ["ada", "ben"]


def test_each_file_id_is_a_session_in_order_of_appearance(tmp_path: Path) -> None:
    path = rttm(tmp_path, turn(file="b"), turn(file="a"), turn(file="b", speaker="ben"))

    sessions = read_rttm(path)

    assert [(s.external_id, s.title, len(s.tracks)) for s in sessions] == [
        ("b", "b", 2),
        ("a", "a", 1),
    ]


def test_comments_blank_lines_and_other_types_are_no_tracks(tmp_path: Path) -> None:
    other = "SPKR-INFO EN1 1 <NA> <NA> <NA> unknown eve <NA> <NA>"
    path = rttm(tmp_path, ";; made by hand", "", other, turn())

    (session,) = read_rttm(path)

    assert [track.name for track in session.tracks] == ["ada"]


def test_nine_fields_of_an_older_evaluation_are_enough(tmp_path: Path) -> None:
    (session,) = read_rttm(rttm(tmp_path, turn().removesuffix(" <NA>")))

    assert session.tracks[0].audio_seconds == 1.5


def test_the_example_meetings_add_up_to_their_published_sums(shared_data: Path) -> None:
    lines = (shared_data / "ami" / "meetings.jsonl").read_text().splitlines()
    published = {m["meeting"]: m["speakers"] for m in map(json.loads, lines)}

    sessions = [s for p in (shared_data / "ami" / "rttm").glob("*.rttm") for s in read_rttm(p)]

    assert len(sessions) == 5
    for session in sessions:
        found = {track.name: track.audio_seconds for track in session.tracks}
        assert found == published[session.title]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("hello world", "line 2 begins with 'hello'"),
        ("SPEAKER EN1 1 0.0", "line 2 has 4 fields"),
        (turn(duration="-1"), "duration '-1'"),
        (turn(duration="nan"), "duration 'nan'"),
        (turn(duration="inf"), "duration 'inf'"),
        (turn(duration="1e99"), "duration '1e99'"),
        (turn(duration="<NA>"), "duration '<NA>'"),
        (turn(onset="soon"), "onset 'soon'"),
        (turn(speaker="<NA>"), "no speaker"),
        (turn(speaker="a\0b"), "no speaker"),
        (turn(file="<NA>"), "no file id"),
    ],
)
def test_a_line_that_is_no_turn_is_refused_by_its_number(
    tmp_path: Path, line: str, fault: str
) -> None:
    path = rttm(tmp_path, turn(), line)

    with pytest.raises(RecordingRefused, match=fault) as refusal:
        read_rttm(path)

    assert str(refusal.value).startswith(str(path))


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "is empty"),
        (b";; nothing\n", "holds no SPEAKER line"),
        (b"SPEAKER \xff\xfe", "line 1 is not UTF-8"),
        (b"x" * 1_000_002, "line 1 is longer"),
    ],
)
def test_a_file_that_is_no_rttm_is_refused(tmp_path: Path, data: bytes, fault: str) -> None:
    path = tmp_path / "bad.rttm"
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match=fault):
        read_rttm(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingRefused, match="No such file"):
        read_rttm(tmp_path / "none.rttm")
