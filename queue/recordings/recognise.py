"""Which of the formats a path holds, told by its name and, failing that, its beginning."""

from enum import StrEnum
from pathlib import Path

from recordings.errors import RecordingRefused


class Format(StrEnum):
    """What an importer reads."""

    CRAIG = "craig"
    RTTM = "rttm"
    JSON_LINES = "jsonl"


_BY_SUFFIX = {
    ".zip": Format.CRAIG,
    ".rttm": Format.RTTM,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
}


def recognise(path: Path) -> Format:
    """The format of ``path``. Raises RecordingRefused for what is none of them, or not there."""
    try:
        if path.is_dir():
            return Format.CRAIG
        if not path.exists():
            raise RecordingRefused(path, "there is no such file")
        if not path.is_file():
            raise RecordingRefused(path, "is neither a file nor a folder")
        with path.open("rb") as file:
            beginning = file.read(4096)
    except OSError as error:
        raise RecordingRefused(path, error.strerror or "cannot be read") from error
    except ValueError as error:  # a NUL in the path
        raise RecordingRefused(path, "there is no such file") from error
    if not beginning:
        raise RecordingRefused(path, "is empty")
    by_suffix = _BY_SUFFIX.get(path.suffix.lower())
    return by_suffix or _by_beginning(path, beginning)


def _by_beginning(path: Path, beginning: bytes) -> Format:
    if beginning.startswith(b"PK"):
        return Format.CRAIG
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"SPEAKER ", b";;", b"SPKR-INFO ")):
        return Format.RTTM
    if text.startswith(b"{"):
        return Format.JSON_LINES
    raise RecordingRefused(path, "is no recording that can be imported (Craig, RTTM, JSON lines)")
