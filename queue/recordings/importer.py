"""One path in, sessions in the queue out; the only part of the recordings that writes there."""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_session import NewSession
from guildqueue.services.create_session import create_session
from guildqueue.services.register_guild import ensure_guild
from recordings.craig import CraigDownload, read_craig
from recordings.errors import GuildNeeded
from recordings.jsonl import read_jsonl
from recordings.placing import OnProgress, place_tracks
from recordings.recognise import Format, recognise
from recordings.rttm import read_rttm


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One session of a file; ``created`` is false for one that was there before."""

    path: Path
    guild_id: GuildId
    session_id: SessionId
    title: str
    n_tracks: int
    created: bool


def import_path(
    path: Path,
    *,
    guild: GuildId | None,
    media_root: Path,
    on_progress: OnProgress,
) -> list[Imported]:
    """The sessions of the file or folder at ``path``, all of them in the queue.

    ``guild`` overrides the guild that a Craig download names. Importing the same again
    changes nothing. Raises RecordingRefused for a bad file, of which nothing is kept;
    GuildNeeded if neither ``guild`` nor the file says whose it is; GuildNotFound for a
    ``guild`` that is not there.
    """
    found = recognise(path)
    if found is Format.CRAIG:
        download = read_craig(path)
        return [_import_craig(download, guild, media_root, on_progress)]
    if guild is None:
        raise GuildNeeded(path)
    sessions = _read_text(path, found)
    imported = []
    for index, session in enumerate(sessions, start=1):
        imported.append(_create(path, guild, session))
        on_progress(session.title, index / len(sessions))
    return imported


def _read_text(path: Path, found: Format) -> list[NewSession]:
    match found:
        case Format.RTTM:
            return read_rttm(path)
        case Format.JSON_LINES:
            return read_jsonl(path)
        case Format.CRAIG:
            raise AssertionError("a download is no text file")
        case _:
            assert_never(found)


def _import_craig(
    download: CraigDownload,
    guild: GuildId | None,
    media_root: Path,
    on_progress: OnProgress,
) -> Imported:
    guild_id = guild or download.guild_id
    if guild_id is None:
        raise GuildNeeded(download.path)
    placed = place_tracks(
        download, guild_id=guild_id, media_root=media_root.resolve(), on_progress=on_progress
    )
    try:
        if guild_id == download.guild_id:
            ensure_guild(guild_id, name=download.guild_name or f"Guild {guild_id}")
        imported = _create(download.path, guild_id, download.session(placed.tracks))
    except BaseException:
        placed.take_back()
        raise
    if not imported.created:
        # The session that is there keeps the audio that it names.
        placed.take_back()
    on_progress(download.title, 1.0)
    return imported


def _create(path: Path, guild_id: GuildId, session: NewSession) -> Imported:
    created = create_session(guild_id, session=session)
    return Imported(
        path=path,
        guild_id=guild_id,
        session_id=created.session_id,
        title=session.title,
        n_tracks=len(session.tracks),
        created=created.created,
    )
