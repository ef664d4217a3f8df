"""A document or one track's text as Markdown or WebVTT: pure, and safe against its own words."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from recordings.document import Document, Transcript, Turn

_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&!])")
# What begins a list, a heading line or a rule where it stands first.
_MARKDOWN_START = re.compile(r"([-+=]|\d+(?=[.)]))")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def to_markdown(document: Document) -> str:
    """A page that people read: title, date, who was there, then turn by turn with its time."""
    lines = [f"# {_markdown(document['title'])}", ""]
    if document["started_at"]:
        lines += [_moment(document["started_at"]), ""]
    if document["speakers"]:
        names = ", ".join(_markdown(name) for name in document["speakers"])
        lines += [f"Participants: {names}", ""]
    if not document["turns"]:
        lines += ["*Nothing was said.*", ""]
    for turn in document["turns"]:
        lines += _markdown_turn(turn["speaker"], turn["start_s"], turn["text"])
    return "\n".join(lines)


def to_webvtt(document: Document) -> str:
    """Subtitles with one cue a turn, each naming its speaker."""
    return _webvtt(document["turns"])


def transcript_to_markdown(transcript: Transcript) -> str:
    """One track as Markdown: the speaker, then each segment with its time."""
    lines = [f"# {_markdown(transcript['name'])}", ""]
    if not transcript["segments"]:
        lines += ["*Nothing was said.*", ""]
    for segment in transcript["segments"]:
        text = _markdown(segment["text"])
        lines += [f"`{clock(segment['start_s'])}` {text}", ""]
    return "\n".join(lines)


def transcript_to_webvtt(transcript: Transcript) -> str:
    """One track as subtitles with one cue a segment."""
    return _webvtt(
        {
            "speaker": transcript["name"],
            "start_s": segment["start_s"],
            "end_s": segment["end_s"],
            "text": segment["text"],
        }
        for segment in transcript["segments"]
    )


def clock(seconds: float) -> str:
    """``seconds`` as ``H:MM:SS``, cut to whole seconds."""
    whole = int(max(0.0, seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _markdown_turn(speaker: str, start_s: float, text: str) -> list[str]:
    escaped = _markdown(text)
    opening = _MARKDOWN_START.match(escaped)
    if opening:
        # A digit cannot be escaped, only the mark after it.
        at = opening.end() if opening.group()[0].isdigit() else 0
        escaped = f"{escaped[:at]}\\{escaped[at:]}"
    return [f"**{_markdown(speaker)}** `{clock(start_s)}`", "", escaped, ""]


def _markdown(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", _line(text))


def _webvtt(turns: Iterable[Turn]) -> str:
    cues = ["WEBVTT"]
    for turn in turns:
        text = _vtt(turn["text"])
        if not text:
            continue
        start_ms = round(max(0.0, turn["start_s"]) * 1000)
        # A cue that ends where it begins is not one.
        end_ms = max(start_ms + 1, round(turn["end_s"] * 1000))
        speaker = _vtt(turn["speaker"])
        voice = f"<v {speaker}>{text}" if speaker else text
        cues.append(f"{_timestamp(start_ms)} --> {_timestamp(end_ms)}\n{voice}")
    return "\n\n".join(cues) + "\n"


def _vtt(text: str) -> str:
    """``text`` on one line, with no tag, reference or arrow of its own in it."""
    return _line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _line(text: str) -> str:
    return " ".join(_INVISIBLE.sub(" ", text).split())


def _timestamp(ms: int) -> str:
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return _markdown(text)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"
