"""Where a download's audio goes: out of a zip into the media folder, whole or not at all."""

import itertools
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_session import NewTrack
from recordings.archive import extract_entry, opened_archive
from recordings.audio import measure_track
from recordings.craig import CraigDownload, CraigTrack
from recordings.errors import RecordingRefused

OnProgress = Callable[[str, float], None]
"""Hears what is at hand and which part of the file, 0.0 to 1.0, is done."""

_LEFT_S = 86_400
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Tracks that a worker can read. ``new_folder`` is what this import put there, if anything."""

    tracks: tuple[NewTrack, ...]
    new_folder: Path | None

    def take_back(self) -> None:
        """Remove what this import put there: nobody refers to it."""
        if self.new_folder is not None:
            _remove(self.new_folder)


def place_tracks(
    download: CraigDownload, *, guild_id: GuildId, media_root: Path, on_progress: OnProgress
) -> Placed:
    """The download's audio measured and where it stays: a folder's in place, a zip's copied.

    A zip's lands in ``audio/<guild>/<recording id>`` below ``media_root``; what an earlier
    import left there is used again. Raises RecordingRefused, and then nothing is left.
    """
    if not download.is_zip:
        return Placed(tracks=_in_place(download, on_progress), new_folder=None)
    home = media_root / "audio" / str(guild_id)
    try:
        return _from_zip(download, home, media_root, on_progress)
    except OSError as error:
        raise RecordingRefused(
            download.path, f"its audio cannot be stored: {error.strerror or error}"
        ) from error


def _in_place(download: CraigDownload, on_progress: OnProgress) -> tuple[NewTrack, ...]:
    placed = []
    for index, track in enumerate(download.tracks):
        on_progress(track.name, index / len(download.tracks))
        path = (download.path / track.file_name).resolve()
        try:
            str(path).encode()
        except UnicodeEncodeError as error:
            raise RecordingRefused(download.path, f"{path} has a name that is not UTF-8") from error
        seconds = measure_track(path, download=download.path, name=track.file_name)
        placed.append(NewTrack(name=track.name, uri=str(path), audio_seconds=seconds))
    return tuple(placed)


def _from_zip(
    download: CraigDownload, home: Path, media_root: Path, on_progress: OnProgress
) -> Placed:
    there = home / download.recording_id
    with opened_archive(download.path) as archive:
        entries = {
            _file_name(track): archive.getinfo(download.base + track.file_name)
            for track in download.tracks
        }
        if _holds(there, entries):
            return Placed(tracks=_measured(download, there, media_root), new_folder=None)
        _sweep(home, download.recording_id)
        incoming = home / f".{download.recording_id}.{secrets.token_hex(4)}"
        try:
            _make_room(download, entries, incoming)
            _extract(download, archive, entries, incoming, on_progress)
            _measured(download, incoming, media_root)
            folder = _settle(incoming, there)
        except BaseException:
            _remove(incoming)
            raise
    return Placed(tracks=_measured(download, folder, media_root), new_folder=folder)


def _holds(folder: Path, entries: Mapping[str, ZipInfo]) -> bool:
    """True if an earlier import of this very download is there."""
    return folder.is_dir() and all(
        (folder / name).is_file() and (folder / name).stat().st_size == info.file_size
        for name, info in entries.items()
    )


def _sweep(home: Path, recording_id: str) -> None:
    """Take away what an import that was killed left half unpacked a day ago or longer."""
    for left in home.glob(f".{recording_id}.*"):
        if time.time() - left.stat().st_mtime > _LEFT_S:
            shutil.rmtree(left, ignore_errors=True)


def _make_room(download: CraigDownload, entries: Mapping[str, ZipInfo], incoming: Path) -> None:
    incoming.mkdir(parents=True)
    needed = sum(info.file_size for info in entries.values())
    if needed > shutil.disk_usage(incoming).free:
        raise RecordingRefused(download.path, f"needs {needed} bytes of disk, more than are free")


def _extract(
    download: CraigDownload,
    archive: ZipFile,
    entries: Mapping[str, ZipInfo],
    incoming: Path,
    on_progress: OnProgress,
) -> None:
    total = max(1, sum(info.file_size for info in entries.values()))
    done = 0
    for name, info in entries.items():
        for n_bytes in extract_entry(download.path, archive, info, incoming / name):
            done += n_bytes
            on_progress(name, done / total)


def _measured(download: CraigDownload, folder: Path, media_root: Path) -> tuple[NewTrack, ...]:
    tracks = []
    for track in download.tracks:
        path = folder / _file_name(track)
        seconds = measure_track(path, download=download.path, name=track.file_name)
        uri = path.relative_to(media_root).as_posix()
        tracks.append(NewTrack(name=track.name, uri=uri, audio_seconds=seconds))
    return tuple(tracks)


def _settle(incoming: Path, there: Path) -> Path:
    """Rename ``incoming`` to ``there``, or beside it if another download took the name."""
    for number in itertools.count(2):
        try:
            return incoming.rename(there)
        except OSError:
            if not there.exists():
                raise
        # A recording's id holds no dot, so no other recording has this name.
        there = there.with_name(f"{there.name.partition('.')[0]}.{number}")
    raise AssertionError("the numbers ended")


def _file_name(track: CraigTrack) -> str:
    """The track's own file name, made fit for any file system."""
    name = unicodedata.normalize("NFC", track.file_name)
    stem, _, extension = _UNSAFE.sub("_", name).rpartition(".")
    return f"{stem[:60]}.{extension.lower()}"


def _remove(folder: Path) -> None:
    """Take ``folder`` away, and the folders above it that are empty without it."""
    shutil.rmtree(folder, ignore_errors=True)
    for above in list(folder.parents)[:2]:
        try:
            above.rmdir()
        except OSError:
            return
