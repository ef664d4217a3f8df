"""The files that finished jobs left: found below the media folder, never outside it."""

import json
import math
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.utils.translation import gettext as _

from guildqueue.domain.job import Job
from recordings.document import Document, Transcript

# A meeting of a whole day is a tenth of this; what is larger is not ours.
MAX_RESULT_BYTES = 32 * 1024 * 1024
FOLDERS = ("documents", "transcripts")


class ResultMissing(Exception):
    """A finished job whose file cannot be shown; the message says why, for the page."""


def read_document(job: Job) -> Document:
    """The meeting's text that a document job left; raises ResultMissing."""
    found = _read(job)
    try:
        turns = [
            {
                "speaker": str(turn["speaker"]),
                "start_s": _seconds(turn["start_s"]),
                "end_s": _seconds(turn["end_s"]),
                "text": str(turn["text"]),
            }
            for turn in found["turns"]
        ]
        speakers = [str(name) for name in found.get("speakers", ())]
        title = str(found["title"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultMissing(_("The file of the document cannot be read.")) from error
    started_at = found.get("started_at")
    document = {
        "version": 1,
        "title": title,
        "started_at": str(started_at) if started_at else None,
        "speakers": speakers,
        "turns": turns,
    }
    return cast(Document, document)


def read_transcript(job: Job) -> Transcript:
    """The text of one track that a transcribe job left; raises ResultMissing."""
    found = _read(job)
    try:
        segments = [
            {
                "start_s": _seconds(segment["start_s"]),
                "end_s": _seconds(segment["end_s"]),
                "text": str(segment["text"]),
            }
            for segment in found["segments"]
        ]
        language, duration_s = str(found["language"]), _seconds(found["duration_s"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultMissing(_("The file of this track's text cannot be read.")) from error
    transcript = {
        "version": 1,
        "name": job.name,
        "language": language,
        "duration_s": duration_s,
        "segments": segments,
    }
    return cast(Transcript, transcript)


def result_path(job: Job) -> Path:
    """Where the job's file lies; raises ResultMissing for a name that is not its guild's.

    A worker names the file, so a name is believed only below its own guild's folder.
    """
    name = (job.result or {}).get("path")
    if not isinstance(name, str) or not name or "\0" in name:
        raise ResultMissing(_("It has no file."))
    root = Path(settings.MEDIA_ROOT).resolve()
    path = (root / name).resolve()
    if not any(path.is_relative_to(root / folder / str(job.guild_id)) for folder in FOLDERS):
        raise ResultMissing(_("Its file is not where this guild's files are."))
    return path


def _seconds(value: object) -> float:
    """A time in a recording; JSON as Python reads it may also hold NaN and infinities."""
    seconds = float(value)  # type: ignore[arg-type]  # whatever it refuses is a fault of the file
    if not math.isfinite(seconds):
        raise ValueError(value)
    return seconds


def _read(job: Job) -> dict[str, Any]:
    path = result_path(job)
    try:
        if path.stat().st_size > MAX_RESULT_BYTES:
            raise ResultMissing(_("Its file is too large to be shown."))
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultMissing(
            _("Its file is no longer there. Requeue it to make it again.")
        ) from error
    except ValueError as error:
        raise ResultMissing(_("Its file cannot be read. Requeue it to make it again.")) from error
    if not isinstance(found, dict):
        raise ResultMissing(_("Its file cannot be read. Requeue it to make it again."))
    return found
