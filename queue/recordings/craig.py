"""A Craig download, zip or folder: its ``info.txt`` and one audio file a speaker."""

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from recordings.archive import opened_archive, read_entry, same_name
from recordings.craig_info import INFO_MAX_BYTES, CraigInfo, CraigSpeaker, InfoFault, parse_info
from recordings.errors import RecordingRefused

INFO_NAME = "info.txt"
EXTENSIONS = ("flac", "wav", "ogg", "oga", "opus", "aac", "mp3")

_TRACK = re.compile(
    rf"(?P<number>\d{{1,6}})(?:-(?P<user>.*))?\.(?:{'|'.join(EXTENSIONS)})",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CraigTrack:
    """One speaker's file. ``file_name`` is below ``CraigDownload.base``."""

    number: int
    name: str
    user_id: str | None
    file_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CraigDownload:
    """What a download holds, before a sample of it was heard.

    ``base`` is the folder inside the zip or on disk that holds everything, with its
    slash; empty where that is the top. ``tracks`` are in ascending number.
    """

    path: Path
    is_zip: bool
    base: str
    recording_id: str
    guild_id: GuildId | None
    guild_name: str | None
    title: str
    started_at: datetime | None
    participants: tuple[NewParticipant, ...]
    tracks: tuple[CraigTrack, ...]

    def session(self, tracks: Iterable[NewTrack]) -> NewSession:
        """The meeting, its tracks being where the caller put them."""
        return NewSession(
            title=self.title,
            external_id=self.recording_id,
            started_at=self.started_at,
            participants=self.participants,
            tracks=tuple(tracks),
        )


def read_craig(path: Path) -> CraigDownload:
    """The download at ``path``. Raises RecordingRefused with what is wrong with it."""
    return _read_folder(path) if path.is_dir() else _read_zip(path)


def _read_zip(path: Path) -> CraigDownload:
    with opened_archive(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        base = _base(path, infos)
        members = [name for name in infos if PurePosixPath(name).parent == PurePosixPath(base)]
        for name in members:
            if name.endswith("/") and _TRACK.fullmatch(PurePosixPath(name).name):
                raise RecordingRefused(path, f"{name} is a folder, not a track")
        text = read_entry(path, archive, infos[base + INFO_NAME], INFO_MAX_BYTES)
    names = [name.removeprefix(base) for name in members if not name.endswith("/")]
    return _download(path, base=base, text=text, names=names)


def _base(path: Path, infos: dict[str, zipfile.ZipInfo]) -> str:
    """The folder of the zip's only ``info.txt``: the top, or the one folder around it all."""
    found = [name for name in infos if same_name(PurePosixPath(name).name) == INFO_NAME]
    found = [name for name in found if not name.endswith("/") and name.count("/") < 2]
    if not found:
        raise RecordingRefused(path, "holds no info.txt")
    if len(found) > 1:
        raise RecordingRefused(path, f"holds {len(found)} info.txt files, so two recordings")
    if not found[0].endswith(INFO_NAME):
        raise RecordingRefused(path, f"holds no info.txt, only {found[0]}")
    return found[0].removesuffix(INFO_NAME)


def _read_folder(path: Path) -> CraigDownload:
    try:
        home = path.resolve(strict=True)
        entries = sorted(path.iterdir())
        info = path / INFO_NAME
        if not info.is_file():
            raise RecordingRefused(path, "holds no info.txt")
        for entry in [info, *(e for e in entries if _TRACK.fullmatch(e.name))]:
            if not entry.resolve().is_relative_to(home):
                raise RecordingRefused(path, f"{entry.name} is a path that escapes (link)")
            if not entry.is_file():
                raise RecordingRefused(path, f"{entry.name} is a folder, not a track")
        with info.open("rb") as source:
            text = source.read(INFO_MAX_BYTES + 1)
    except OSError as error:
        raise RecordingRefused(path, error.strerror or "cannot be read") from error
    return _download(path, base="", text=text, names=[entry.name for entry in entries])


def _download(path: Path, *, base: str, text: bytes, names: list[str]) -> CraigDownload:
    try:
        info = parse_info(text)
    except InfoFault as fault:
        raise RecordingRefused(path, f"{INFO_NAME} {fault}") from fault
    tracks = _tracks(path, info, names)
    return CraigDownload(
        path=path,
        is_zip=not path.is_dir(),
        base=base,
        recording_id=info.recording_id,
        guild_id=None if info.guild_id is None else GuildId(info.guild_id),
        guild_name=info.guild_name,
        title=info.channel or f"Recording {info.recording_id}",
        started_at=info.started_at,
        participants=_participants(tracks),
        tracks=tracks,
    )


def _tracks(path: Path, info: CraigInfo, names: list[str]) -> tuple[CraigTrack, ...]:
    """Each audio file with the line of info.txt that it belongs to.

    As many files as lines pair up in order: the numbers of people who never spoke are
    left out of both. Otherwise the number says which line.
    """
    files: dict[int, tuple[str, str]] = {}
    for name in names:
        found = _TRACK.fullmatch(name)
        if found is None:
            continue
        number = int(found["number"])
        if number in files:
            raise RecordingRefused(path, f"{files[number][0]} and {name} are both track {number}")
        files[number] = (name, found["user"] or "")
    if not files:
        raise RecordingRefused(path, "holds no audio tracks")
    numbers = sorted(files)
    in_order = len(numbers) == len(info.speakers)
    places = dict(zip(numbers if in_order else range(1, 10**6), info.speakers, strict=False))
    for number, speaker in places.items():
        if number not in files:
            raise RecordingRefused(path, f"track {number} ({speaker.name}) has no audio file")
    return tuple(
        _track(number, places.get(number), file_name, user)
        for number, (file_name, user) in sorted(files.items())
    )


def _track(number: int, speaker: CraigSpeaker | None, file_name: str, user: str) -> CraigTrack:
    return CraigTrack(
        number=number,
        name=(speaker and speaker.name) or user.strip() or f"Track {number}",
        user_id=speaker.user_id if speaker else None,
        file_name=file_name,
    )


def _participants(tracks: tuple[CraigTrack, ...]) -> tuple[NewParticipant, ...]:
    """One a person, in order of their first track; somebody who came back counts once."""
    people: dict[str, NewParticipant] = {}
    for track in tracks:
        person = NewParticipant(name=track.name, user_id=track.user_id)
        people.setdefault(track.user_id or f"name:{track.name}", person)
    return tuple(people.values())
