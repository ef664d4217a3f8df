"""Text files from outside, line by line: UTF-8, bounded, numbered."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from recordings.errors import RecordingRefused

MAX_LINE_BYTES = 1_000_000
MAX_FILE_BYTES = 256 * 2**20


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line without its end, numbered from 1; a byte order mark is dropped.

    Raises RecordingRefused if the file cannot be read, is empty or too large, or a line is
    too long or not UTF-8.
    """
    try:
        size = path.stat().st_size
        if size == 0:
            raise RecordingRefused(path, "is empty")
        if size > MAX_FILE_BYTES:
            raise RecordingRefused(path, f"is larger than {MAX_FILE_BYTES // 2**20} MiB")
        with path.open("rb") as file:
            yield from _lines(path, iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""))
    except OSError as error:
        raise RecordingRefused(path, error.strerror or "cannot be read") from error


def _lines(path: Path, lines: Iterator[bytes]) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(lines, start=1):
        if len(raw) > MAX_LINE_BYTES:
            raise RecordingRefused(path, f"line {number} is longer than 1 MB")
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise RecordingRefused(path, f"line {number} is not UTF-8 text") from error
