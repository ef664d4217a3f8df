"""JSON lines: one session an object, as ``POST /api/guilds/{guild}/sessions`` takes it."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guildqueue.domain.json_lines import LineFault, parse_line
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from recordings.errors import RecordingRefused
from recordings.text import numbered_lines

MAX_TEXT = 500
MAX_URI = 4_000
MAX_TRACKS = 1_000


def read_jsonl(path: Path) -> list[NewSession]:
    """The file's sessions, line by line; blank lines are skipped.

    A session without an ``external_id`` gets one made of its line, so that importing the
    file again finds it. Raises RecordingRefused, naming the line, at the first fault.
    """
    sessions: list[NewSession] = []
    lines_of: dict[str, int] = {}
    repeats: Counter[str] = Counter()
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            session = parse_session(line)
        except LineFault as fault:
            raise RecordingRefused(path, f"line {number}: {fault}") from fault
        if session.external_id is None:
            repeats[line] += 1
            session = replace(session, external_id=_derived_id(line, repeats[line]))
        first = lines_of.setdefault(str(session.external_id), number)
        if first != number:
            raise RecordingRefused(path, f"line {number} has the external_id of line {first}")
        sessions.append(session)
    if not sessions:
        raise RecordingRefused(path, "holds no session")
    return sessions


def parse_session(line: str) -> NewSession:
    """The session in one line. Raises LineFault at the first value that is not as POST takes it."""
    try:
        value = parse_line(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise LineFault(f"is not JSON ({getattr(error, 'msg', 'nested too deeply')})") from error
    read: dict[str, Callable[[str, Any], Any]] = {
        "title": _title,
        "external_id": _optional(_label),
        "started_at": _optional(_moment),
        "participants": _list_of(_participant),
        "tracks": _list_of(_track),
        "recording": _flag,
    }
    fields = _fields("", value, read, needed="title")
    return NewSession(**fields)


def _derived_id(line: str, repeat: int) -> str:
    digest = hashlib.sha256(line.strip().encode()).hexdigest()[:32]
    return f"line-{digest}" if repeat == 1 else f"line-{digest}-{repeat}"


def _fields(
    where: str, value: object, read: dict[str, Callable[[str, Any], Any]], *, needed: str
) -> dict[str, Any]:
    """Each field of an object through its own reader; unknown and missing ones are faults."""
    if not isinstance(value, dict):
        raise LineFault(f"{where or 'the line'} is not an object")
    prefix = f"{where}." if where else ""
    for name in value:
        if name not in read:
            raise LineFault(f"unknown field {prefix + name!r}; known: {', '.join(read)}")
    if needed not in value:
        raise LineFault(f"{prefix}{needed} is missing")
    return {name: read[name](prefix + name, item) for name, item in value.items()}


def _text(where: str, value: object, limit: int = MAX_TEXT) -> str:
    if not isinstance(value, str):
        raise LineFault(f"{where} is not text")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise LineFault(f"{where} holds a character that no text may hold")
    if len(value) > limit:
        raise LineFault(f"{where} is longer than {limit} characters")
    return value


def _label(where: str, value: object) -> str:
    text = _text(where, value).strip()
    if not text:
        raise LineFault(f"{where} is empty")
    return text


_title = _label


def _flag(where: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise LineFault(f"{where} is neither true nor false")
    return value


def _seconds(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineFault(f"{where} is not a number")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < math.inf:
        raise LineFault(f"{where} is not a finite number of seconds from 0 up")
    return seconds


def _moment(where: str, value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(where, value))
        if moment.tzinfo is None:
            raise LineFault(f"{where} names no time zone")
        return moment.astimezone(UTC)
    except LineFault:
        raise
    except (ValueError, OverflowError) as error:
        raise LineFault(f"{where} is no date and time") from error


def _optional(read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda where, value: None if value is None else read(where, value)


def _list_of(read: Callable[[str, Any], Any]) -> Callable[[str, Any], tuple[Any, ...]]:
    def each(where: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise LineFault(f"{where} is not a list")
        if len(value) > MAX_TRACKS:
            raise LineFault(f"{where} holds more than {MAX_TRACKS}")
        return tuple(read(f"{where}[{index}]", item) for index, item in enumerate(value))

    return each


def _participant(where: str, value: object) -> NewParticipant:
    if isinstance(value, str):
        return NewParticipant(name=_label(where, value))
    read = {"name": _label, "user_id": _optional(_label)}
    return NewParticipant(**_fields(where, value, read, needed="name"))


def _uri(where: str, value: object) -> str:
    return _text(where, value, MAX_URI)


def _track(where: str, value: object) -> NewTrack:
    read: dict[str, Callable[[str, Any], Any]] = {
        "name": _label,
        "uri": _optional(_uri),
        "audio_seconds": _optional(_seconds),
    }
    return NewTrack(**_fields(where, value, read, needed="name"))
