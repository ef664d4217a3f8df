"""The ``info.txt`` of a Craig download: what it says, checked line by line."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from guildqueue.domain.ids import BIGINT_MAX

INFO_MAX_BYTES = 1_000_000

_RECORDING = re.compile(r"Recording[ \t:]+(.*)")
_RECORDING_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAME_AND_ID = re.compile(r"(.*?)[ \t]*\((\d{1,40})\)", re.ASCII)
_DISCRIMINATOR = re.compile(r"(.+)#(?:0|\d{4})", re.ASCII)


class InfoFault(ValueError):
    """What is wrong with an ``info.txt``, as a phrase that follows its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CraigSpeaker:
    """One line under ``Tracks:``; ``name`` is empty where the line has none."""

    name: str
    user_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CraigInfo:
    """``speakers`` in the order of the lines, so of the tracks. ``started_at`` is UTC."""

    recording_id: str
    guild_id: int | None
    guild_name: str | None
    channel: str | None
    started_at: datetime | None
    speakers: tuple[CraigSpeaker, ...]


def parse_info(data: bytes) -> CraigInfo:
    """What ``data`` says. Raises InfoFault at the first thing that no download writes."""
    lines = _lines(data)
    recording_id = _recording_id(lines)
    fields, tracks_at = _fields(lines)
    guild_name, guild_id = _name_and_id(fields.get("guild", ""))
    if guild_id is not None and not 0 < int(guild_id) <= BIGINT_MAX:
        raise InfoFault("the guild's id is out of range")
    return CraigInfo(
        recording_id=recording_id,
        guild_id=None if guild_id is None else int(guild_id),
        guild_name=guild_name or None,
        channel=_name_and_id(fields.get("channel", ""))[0] or None,
        started_at=_moment(fields["start time"]) if "start time" in fields else None,
        speakers=_speakers(lines[tracks_at + 1 :]),
    )


def _lines(data: bytes) -> list[str]:
    if len(data) > INFO_MAX_BYTES:
        raise InfoFault("is larger than 1 MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InfoFault(f"is not UTF-8 text (byte {error.start})") from error
    if not text.strip():
        raise InfoFault("is empty")
    if "\0" in text:
        raise InfoFault("holds a NUL character")
    # Not splitlines(): it also splits at characters that a name may hold.
    return re.split(r"\r\n|\n|\r", text)


def _recording_id(lines: list[str]) -> str:
    first = next(line for line in lines if line.strip())
    found = _RECORDING.fullmatch(first.rstrip())
    if found is None:
        raise InfoFault("does not begin with a Recording line")
    recording_id = found.group(1).strip()
    if _RECORDING_ID.fullmatch(recording_id) is None:
        raise InfoFault(f"has a recording id that is none: {recording_id[:80]!r}")
    return recording_id


def _fields(lines: list[str]) -> tuple[dict[str, str], int]:
    """The header's values by lower-cased name, and the index of the ``Tracks:`` line."""
    fields: dict[str, str] = {}
    seen_recording = False
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if not seen_recording:
            seen_recording = True
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise InfoFault(f"line {index + 1} has no colon")
        key = name.strip().casefold()
        if key == "tracks":
            return fields, index
        if key in fields:
            raise InfoFault(f"line {index + 1} says {name.strip()!r} again")
        fields[key] = value.strip()
    raise InfoFault("lists no tracks")


def _speakers(lines: list[str]) -> tuple[CraigSpeaker, ...]:
    """One speaker a line, up to the first line that is not indented (notes follow)."""
    tags: list[tuple[str, str | None]] = []
    for line in lines:
        if line and not line[0].isspace():
            break
        if line.strip():
            tags.append(_name_and_id(line))
    if not tags:
        raise InfoFault("lists no tracks")
    plain = [_without_discriminator(name) for name, _ in tags]
    owners: dict[str, set[str]] = {}
    for (name, user_id), short in zip(tags, plain, strict=True):
        owners.setdefault(short, set()).add(user_id or name)
    # Two people of one name stay apart by the number that Discord once gave them.
    return tuple(
        CraigSpeaker(name=short if len(owners[short]) == 1 else name, user_id=user_id)
        for (name, user_id), short in zip(tags, plain, strict=True)
    )


def _name_and_id(text: str) -> tuple[str, str | None]:
    """``name (id)`` taken apart; the id is None for a bare name."""
    found = _NAME_AND_ID.fullmatch(text.strip())
    return (found.group(1).strip(), found.group(2)) if found else (text.strip(), None)


def _without_discriminator(name: str) -> str:
    found = _DISCRIMINATOR.fullmatch(name)
    return found.group(1) if found else name


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InfoFault(f"has a start time that is no date: {text[:80]!r}") from error
