"""The demo's sound: every recording is spoken once, and each meeting has files of its own."""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guildqueue.domain.ids import GuildId
from recordings.demo_book import DemoRecording, DemoSession, Lost
from recordings.demo_scripts import Line, compose
from recordings.speech import RecordedTrack, record_meeting

_ID_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTrack:
    """One person's track of a meeting: ``uri`` is below the media root."""

    name: str
    uri: str
    recorded: RecordedTrack


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the demo puts files below the media root, and which, so that all can be taken back."""

    media_root: Path
    library: Mapping[str, Sequence[RecordedTrack]]
    put: list[Path]

    def place(self, guild_id: GuildId, session: DemoSession) -> tuple[PlacedTrack, ...]:
        """The meeting's tracks, each under its speaker's name. Files are shared, not copied."""
        folder = self.media_root / "audio" / str(guild_id) / external_id(guild_id, session)
        folder.mkdir(parents=True, exist_ok=True)
        placed = []
        recorded = self.library[session.says] if session.says else ()
        for number, (name, track) in enumerate(zip(session.people, recorded, strict=False), 1):
            path = folder / f"{number}-{name}{track.path.suffix}"
            self.put.append(path)
            _put(track.path, path, session.lost if number == 1 else None)
            uri = path.relative_to(self.media_root).as_posix()
            placed.append(PlacedTrack(name=name, uri=uri, recorded=track))
        return tuple(placed)

    def take_back(self) -> None:
        """Remove every file that was put, and the folders that are empty without it."""
        for path in self.put:
            path.unlink(missing_ok=True)
            for above in list(path.parents)[:3]:
                with contextlib.suppress(OSError):
                    above.rmdir()


def external_id(guild_id: GuildId, session: DemoSession) -> str:
    """What a recorder would have called it: twelve letters and digits."""
    digest = hashlib.sha256(f"{guild_id} {session.title}".encode()).digest()
    return "".join(_ID_LETTERS[byte % len(_ID_LETTERS)] for byte in digest[:12])


@contextmanager
def recorded_library(
    media_root: Path, wanted: Mapping[str, DemoRecording]
) -> Iterator[dict[str, tuple[RecordedTrack, ...]]]:
    """Every recording spoken, in files that are gone afterwards. Raises SpeechMissing.

    They lie below the media root, so that a meeting's files can be links to them. One process
    at a time has them; what one that was killed left is taken away.
    """
    folder = media_root / ".demo"
    with _locked(media_root):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            yield {
                name: record_meeting(folder / name, spoken_lines(recording, seed=seed))
                for seed, (name, recording) in enumerate(wanted.items())
            }
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def spoken_lines(recording: DemoRecording, *, seed: int) -> list[Line]:
    """The recording's parts one after the other, each with another chair."""
    voices = [str(number) for number in range(1, recording.voices + 1)]
    lines: list[Line] = []
    for turn, part in enumerate(recording.parts):
        chair = turn % len(voices)
        lines += compose(part, voices[chair:] + voices[:chair], seed=seed)
    return lines


def _put(source: Path, target: Path, lost: Lost | None) -> None:
    target.unlink(missing_ok=True)  # of a demo that was killed
    match lost:
        case Lost.MISSING:
            return
        case Lost.UNREADABLE:
            target.write_bytes(b"<!doctype html>\n<title>504 Gateway Time-out</title>\n")
            return
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
