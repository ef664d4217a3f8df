"""JSON lines: a session an object, as the API takes it, strictly."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildqueue.domain.json_lines import LineFault
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from recordings.errors import RecordingRefused
from recordings.jsonl import parse_session, read_jsonl

FULL = {
    "title": "retrospective",
    "external_id": "retro-1",
    "started_at": "2026-11-23T19:00:00+01:00",
    "participants": ["ada", {"name": "ben", "user_id": "7"}],
    "tracks": [{"name": "ada", "uri": "audio/1/ada.flac", "audio_seconds": 12.5}, {"name": "ben"}],
    "recording": True,
}


def jsonl(folder: Path, *values: object) -> Path:
    path = folder / "sessions.jsonl"
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_line_is_a_session_with_all_that_the_api_takes() -> None:
    assert parse_session(json.dumps(FULL)) == NewSession(
        title="retrospective",
        external_id="retro-1",
        started_at=datetime(2026, 11, 23, 18, tzinfo=UTC),
        participants=(NewParticipant(name="ada"), NewParticipant(name="ben", user_id="7")),
        tracks=(
            NewTrack(name="ada", uri="audio/1/ada.flac", audio_seconds=12.5),
            NewTrack(name="ben", uri=None, audio_seconds=None),
        ),
        recording=True,
    )


def test_a_title_alone_is_a_session() -> None:
    assert parse_session('{"title": "standup"}') == NewSession(title="standup")


def test_null_is_the_same_as_not_said() -> None:
    line = '{"title": "a", "external_id": null, "started_at": null}'

    assert parse_session(line) == NewSession(title="a")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[]", "the line is not an object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("{}", "title is missing"),
        ('{"title": 5}', "title is not text"),
        ('{"title": "  "}', "title is empty"),
        ('{"title": "a\\u0000b"}', "title holds a character"),
        ('{"title": "a\\ud800b"}', "title holds a character"),
        (json.dumps({"title": "a" * 501}), "longer than 500"),
        ('{"title": "a", "title": "b"}', "says 'title' twice"),
        ('{"title": "a", "colour": 1}', "unknown field 'colour'"),
        ('{"title": "a", "recording": 1}', "recording is neither"),
        ('{"title": "a", "recording": null}', "recording is neither"),
        ('{"title": "a", "started_at": "soon"}', "started_at is no date"),
        ('{"title": "a", "started_at": 5}', "started_at is not text"),
        ('{"title": "a", "started_at": "2026-01-01T10:00"}', "no time zone"),
        ('{"title": "a", "started_at": "0001-01-01T00:00:00+14:00"}', "no date"),
        ('{"title": "a", "participants": "ada"}', "participants is not a list"),
        ('{"title": "a", "participants": [5]}', r"participants\[0\] is not an object"),
        (
            '{"title": "a", "participants": [{"user_id": "1"}]}',
            r"participants\[0\].name is missing",
        ),
        ('{"title": "a", "tracks": [{"name": "a", "url": "x"}]}', r"'tracks\[0\].url'"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": "5"}]}', "is not a number"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": true}]}', "is not a number"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": -1}]}', "not a finite number"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": NaN}]}', "NaN is not"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": 1e999}]}', "not a finite"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": 1%s}]}' % ("0" * 400), "finite"),
        ('{"title": "a", "tracks": [{"name": "a", "audio_seconds": 1%s}]}' % ("0" * 5000), "long"),
        (json.dumps({"title": "a", "participants": ["x"] * 1001}), "more than 1000"),
    ],
)
def test_a_value_that_the_api_would_not_take_is_a_fault(line: str, fault: str) -> None:
    with pytest.raises(LineFault, match=fault):
        parse_session(line)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda b: b.decode("latin-1")))
def test_any_line_is_a_session_or_a_fault(text: str) -> None:
    for line in (text, f'{{"title": {text}}}', f'{{"title": "a", "tracks": {text}}}'):
        with suppress(LineFault):
            assert parse_session(line).title


def test_a_fault_names_the_line_and_refuses_the_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path, FULL, "", {"title": "b", "colour": "red"})

    with pytest.raises(RecordingRefused, match="line 3: unknown field 'colour'") as refusal:
        read_jsonl(path)

    assert str(refusal.value).startswith(str(path))


def test_a_session_without_an_external_id_gets_the_same_one_each_time(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"title": "a"}, {"title": "b"}, {"title": "a"})

    first = [session.external_id for session in read_jsonl(path)]

    assert first == [session.external_id for session in read_jsonl(path)]
    assert len(set(first)) == 3
    assert None not in first


def test_an_external_id_stands_once_in_a_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path, FULL, {"title": "other", "external_id": "retro-1"})

    with pytest.raises(RecordingRefused, match="line 2 has the external_id of line 1"):
        read_jsonl(path)


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"title": "a"}\r\n\r\n{"title": "b"}\r\n')

    assert [session.title for session in read_jsonl(path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [(b"", "is empty"), (b"\n \n", "holds no session"), (b'{"title": "\xff"}', "not UTF-8")],
)
def test_a_file_without_a_session_is_refused(tmp_path: Path, data: bytes, fault: str) -> None:
    path = tmp_path / "sessions.jsonl"
    path.write_bytes(data)

    with pytest.raises(RecordingRefused, match=fault):
        read_jsonl(path)
