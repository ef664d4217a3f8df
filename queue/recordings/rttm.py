"""Diarised meetings as RTTM: who spoke when, without the sound."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from recordings.errors import RecordingRefused
from recordings.text import numbered_lines

# Source: NIST, "RTTM format specification" v13. Only SPEAKER lines carry what a track is made of.
_OTHER_TYPES = frozenset(
    {"SEGMENT", "NOSCORE", "NO_RT_METADATA", "LEXEME", "NON-LEX", "NON-SPEECH", "FILLER"}
    | {"EDIT", "IP", "SU", "CB", "A/P", "SPKR-INFO"}
)
_MAX_SECONDS = 10_000_000.0


@dataclass(slots=True)
class _Meeting:
    """Durations in seconds by speaker, both in order of appearance."""

    speakers: dict[str, list[float]] = field(default_factory=dict)


def read_rttm(path: Path) -> list[NewSession]:
    """One session a file id, in order of appearance; one track a speaker, without a uri.

    A track's ``audio_seconds`` is the sum of its durations, to the millisecond.
    Raises RecordingRefused, naming the line, at the first that is not RTTM.
    """
    meetings: dict[str, _Meeting] = {}
    for number, line in numbered_lines(path):
        fields = line.split()
        if not fields or fields[0].startswith(";;") or fields[0] in _OTHER_TYPES:
            continue
        file_id, speaker, seconds = _turn(path, number, fields)
        meetings.setdefault(file_id, _Meeting()).speakers.setdefault(speaker, []).append(seconds)
    if not meetings:
        raise RecordingRefused(path, "holds no SPEAKER line")
    return [_session(file_id, meeting) for file_id, meeting in meetings.items()]


def _turn(path: Path, number: int, fields: list[str]) -> tuple[str, str, float]:
    """The file id, the speaker and the duration of one SPEAKER line."""
    if fields[0] != "SPEAKER":
        raise RecordingRefused(path, f"line {number} begins with {fields[0][:40]!r}, not SPEAKER")
    # Evaluations before 2009 had nine fields, without the lookahead time.
    if len(fields) not in (9, 10):
        raise RecordingRefused(path, f"line {number} has {len(fields)} fields, not 10")
    _seconds(path, number, "onset", fields[3])
    duration = _seconds(path, number, "duration", fields[4])
    file_id, speaker = fields[1], fields[7]
    for what, value in (("file id", file_id), ("speaker", speaker)):
        if value == "<NA>" or len(value) > 200 or "\0" in value:
            raise RecordingRefused(path, f"line {number} has no {what}")
    return file_id, speaker, duration


def _seconds(path: Path, number: int, what: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _MAX_SECONDS:
        raise RecordingRefused(
            path, f"line {number}: {what} {text[:40]!r} is not a time in seconds"
        )
    return seconds


def _session(file_id: str, meeting: _Meeting) -> NewSession:
    return NewSession(
        title=file_id,
        external_id=file_id,
        participants=tuple(NewParticipant(name=name) for name in meeting.speakers),
        tracks=tuple(
            NewTrack(name=name, uri=None, audio_seconds=round(math.fsum(durations), 3))
            for name, durations in meeting.speakers.items()
        ),
    )
