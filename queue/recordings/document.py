"""The handler of ``document`` jobs: a meeting's tracks merged by time, speaker by speaker."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from guildqueue.worker.handler import HandlerInput, HandlerResult, HandlerWork, PermanentFailure
from recordings.errors import one_line
from recordings.media import guild_file, write_result


class SegmentDict(TypedDict):
    """A piece of one track; times in seconds from the track's beginning."""

    start_s: float
    end_s: float
    text: str


class Transcript(TypedDict):
    """One track's text as the file of a transcribe job holds it."""

    version: int
    name: str
    language: str
    duration_s: float
    segments: list[SegmentDict]


class Turn(TypedDict):
    """What one speaker said until another spoke."""

    speaker: str
    start_s: float
    end_s: float
    text: str


class Document(TypedDict):
    """A meeting's text as the file of a document job holds it; ``turns`` in order of start."""

    version: int
    title: str
    started_at: str | None
    speakers: list[str]
    turns: list[Turn]


def run(work: HandlerWork, report: Callable[[float], None]) -> HandlerResult:
    """Merge the finished tracks and put the document in a file that the result names.

    Raises PermanentFailure if a track's text is gone or unreadable.
    """
    transcripts = []
    for index, needed in enumerate(work.inputs, start=1):
        transcripts.append(_read_transcript(work.guild_id, needed))
        report(0.9 * index / len(work.inputs))
    document = merge_document(
        str(work.payload.get("title") or "Untitled meeting"),
        work.payload.get("started_at") or None,
        transcripts,
    )
    name = write_result(work, "documents", document)
    return HandlerResult(
        result={
            "path": name,
            "turns": len(document["turns"]),
            "speakers": len(document["speakers"]),
        }
    )


def merge_document(
    title: str, started_at: str | None, transcripts: Sequence[Transcript]
) -> Document:
    """The meeting's text out of its tracks' texts."""
    return {
        "version": 1,
        "title": title,
        "started_at": started_at,
        "speakers": _speakers(transcripts),
        "turns": merge_tracks(transcripts),
    }


def merge_tracks(transcripts: Sequence[Transcript]) -> list[Turn]:
    """The turns of the tracks together, by start; a tie goes to the earlier track.

    Segments of one speaker that follow each other become one turn, whichever of the
    speaker's tracks they are on. Segments without text are left out.
    """
    spoken = sorted(
        (
            (segment["start_s"], order, transcript["name"], segment)
            for order, transcript in enumerate(transcripts)
            for segment in transcript["segments"]
            if segment["text"].strip()
        ),
        key=lambda item: item[:2],
    )
    turns: list[Turn] = []
    for start_s, _, speaker, segment in spoken:
        text = " ".join(segment["text"].split())
        if turns and turns[-1]["speaker"] == speaker:
            turns[-1]["end_s"] = max(turns[-1]["end_s"], segment["end_s"])
            turns[-1]["text"] += f" {text}"
        else:
            turns.append(
                {"speaker": speaker, "start_s": start_s, "end_s": segment["end_s"], "text": text}
            )
    return turns


def _speakers(transcripts: Sequence[Transcript]) -> list[str]:
    return list(dict.fromkeys(transcript["name"] for transcript in transcripts))


def _read_transcript(guild_id: int, needed: HandlerInput) -> Transcript:
    """The text of one finished track, under the name that its job carries."""
    path = guild_file(guild_id, str(needed.result.get("path") or "?"))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            "version": 1,
            "name": needed.name,
            "language": str(found["language"]),
            "duration_s": float(found["duration_s"]),
            "segments": [_segment(item) for item in found["segments"]],
        }
    except FileNotFoundError as error:
        raise PermanentFailure(
            f"The text of {one_line(needed.name)} is gone; requeue that track."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise PermanentFailure(
            f"The text of {one_line(needed.name)} cannot be read; requeue that track."
        ) from error


def _segment(item: Mapping[str, Any]) -> SegmentDict:
    return {
        "start_s": float(item["start_s"]),
        "end_s": float(item["end_s"]),
        "text": str(item["text"]),
    }
