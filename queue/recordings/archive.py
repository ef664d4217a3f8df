"""Reading a zip that somebody else made: only plain files, inside it, of a bearable size."""

import lzma
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recordings.errors import RecordingRefused

MAX_ENTRIES = 1_000
MAX_TOTAL_BYTES = 32 * 2**30
# Deflate cannot pass 1032:1, and audio stays far below; a silent WAV track is the
# densest honest thing, so the ratio counts only where it would cost space.
MAX_RATIO = 500
RATIO_FREE_BYTES = 16 * 2**20
CHUNK_BYTES = 2**20

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    UnicodeDecodeError,
    NotImplementedError,
    ValueError,
    OverflowError,
)


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip at ``path`` once each of its entries was checked. Raises RecordingRefused."""
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise RecordingRefused(path, "is not a zip file, or a broken one") from error
    with archive:
        _check_entries(path, archive.infolist())
        yield archive


def read_entry(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    """The entry's bytes, at most ``limit`` + 1 of them: whoever asked refuses the rest."""
    with _broken_is_refused(path, info), archive.open(info) as source:
        return source.read(limit + 1)


def extract_entry(
    path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path
) -> Iterator[int]:
    """Write the entry's bytes to ``target``, a new file, giving the length of each piece.

    Raises RecordingRefused if the data is broken or not as long as the zip declares.
    """
    with _broken_is_refused(path, info), archive.open(info) as source, target.open("xb") as sink:
        left = info.file_size
        while piece := source.read(CHUNK_BYTES):
            left -= len(piece)
            if left < 0:
                raise RecordingRefused(path, f"{info.filename} is longer than the zip declares")
            sink.write(piece)
            yield len(piece)
        if left:
            raise RecordingRefused(path, f"{info.filename} is shorter than the zip declares")
        sink.flush()
        # The session that names this file is committed next; both survive a power cut.
        os.fsync(sink.fileno())


def same_name(name: str) -> str:
    """``name`` as a careless file system would compare it."""
    return unicodedata.normalize("NFC", name).casefold()


@contextmanager
def _broken_is_refused(path: Path, info: zipfile.ZipInfo) -> Iterator[None]:
    try:
        yield
    except RecordingRefused:
        raise
    except _BROKEN as error:
        raise RecordingRefused(path, f"{info.filename} is broken: {error}") from error


def _check_entries(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    if not entries:
        raise RecordingRefused(path, "is an empty zip")
    if len(entries) > MAX_ENTRIES:
        raise RecordingRefused(path, f"holds more than {MAX_ENTRIES} files")
    seen: set[str] = set()
    for info in entries:
        fault = _name_fault(info) or _kind_fault(info) or _size_fault(info)
        if fault:
            raise RecordingRefused(path, f"{info.orig_filename}: {fault}")
        key = same_name(info.filename.rstrip("/"))
        if key in seen:
            raise RecordingRefused(path, f"{info.filename} is in it twice")
        seen.add(key)
    if sum(info.file_size for info in entries) > MAX_TOTAL_BYTES:
        raise RecordingRefused(path, f"would unpack to more than {MAX_TOTAL_BYTES // 2**30} GiB")
    # Entries that share their bytes are how a small zip unpacks to a huge one.
    if sum(info.compress_size for info in entries) > path.stat().st_size:
        raise RecordingRefused(path, "has entries that overlap")


def _name_fault(info: zipfile.ZipInfo) -> str | None:
    name = info.orig_filename
    if "\0" in name:
        return "a name with a NUL character"
    if "\\" in name:
        return "a path that escapes (backslash)"
    if name.startswith("/") or name[1:2] == ":":
        return "a path that escapes (absolute)"
    if ".." in name.split("/"):
        return "a path that escapes (..)"
    return None


def _kind_fault(info: zipfile.ZipInfo) -> str | None:
    # The upper half of external_attr is the Unix mode; 0 where the zip was made elsewhere.
    mode = stat.S_IFMT(info.external_attr >> 16)
    if mode == stat.S_IFLNK:
        return "a link, not a file"
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "neither a file nor a folder"
    if info.flag_bits & 0x1:
        return "encrypted"
    return None


def _size_fault(info: zipfile.ZipInfo) -> str | None:
    if info.file_size <= RATIO_FREE_BYTES:
        return None
    if info.file_size > MAX_RATIO * max(1, info.compress_size):
        return "a zip bomb (it would unpack to much more than audio does)"
    return None
