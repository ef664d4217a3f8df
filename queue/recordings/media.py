"""Files of a handler: where a track's audio lies, and where what came of a job is put."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from guildqueue.worker.handler import HandlerWork, PermanentFailure
from recordings.errors import one_line
from recordings.fetch import fetched

MEDIA_ROOT_VARIABLE = "GUILDQUEUE_MEDIA_ROOT"
# Below each of these stands one folder a guild.
_GUILD_FOLDERS = ("audio", "transcripts", "documents")


def media_root() -> Path:
    """The folder that relative names are below, from the environment that the worker sets."""
    value = os.environ.get(MEDIA_ROOT_VARIABLE, "")
    if not value:
        raise RuntimeError(f"{MEDIA_ROOT_VARIABLE} is not set, so no file can be found or put")
    return Path(value).resolve()


@contextmanager
def track_audio(work: HandlerWork) -> Iterator[Path]:
    """The audio of a transcribe job as a file here; one that was fetched is gone afterwards.

    Raises PermanentFailure for a track that no retry can find.
    """
    uri = work.payload.get("uri")
    if not uri or not isinstance(uri, str):
        raise PermanentFailure("This track has no audio: only its length was imported.")
    scheme = urlsplit(uri).scheme.lower() if "://" in uri else ""
    if scheme in ("http", "https"):
        with fetched(uri) as path:
            yield path
    elif scheme in ("", "file"):
        yield _local_file(work.guild_id, _file_path(uri) if scheme else uri)
    else:
        raise PermanentFailure(f"Audio cannot be read from {one_line(scheme)}:// addresses.")


def guild_file(guild_id: int, name: str) -> Path:
    """The file ``name`` below the media root. Raises PermanentFailure if it is not the guild's."""
    root = media_root()
    if "\0" in name:
        raise PermanentFailure("The file's name holds a NUL character.")
    path = (root / name).resolve()
    inside = path.is_relative_to(root)
    if not inside and not Path(name).is_absolute():
        raise PermanentFailure(f"{one_line(name)} leads out of the media folder.")
    if inside:
        _check_guild(guild_id, path.relative_to(root))
    return path


def write_result(work: HandlerWork, folder: str, content: Mapping[str, Any]) -> str:
    """Put ``content`` as JSON under a name that only this lease writes, and return that name.

    The name is relative to the media root. The file is there whole or not at all.
    """
    name = result_name(work, folder)
    write_json(media_root() / name, content)
    return name


def result_name(work: HandlerWork, folder: str) -> str:
    """Where the result of this lease lies, relative to the media root."""
    return f"{folder}/{work.guild_id}/{work.session_id}/{work.job_id}-{work.token}.json"


def write_json(target: Path, content: Mapping[str, Any]) -> None:
    """Put ``content`` at ``target``, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _file_path(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.netloc not in ("", "localhost"):
        raise PermanentFailure(f"{one_line(uri)} names a file on another computer.")
    return unquote(parts.path)


def _local_file(guild_id: int, name: str) -> Path:
    path = guild_file(guild_id, name)
    if not path.exists():
        raise PermanentFailure(f"The audio file {one_line(name)} is not there.")
    if not path.is_file():
        raise PermanentFailure(f"{one_line(name)} is not a file.")
    if not os.access(path, os.R_OK):
        raise PermanentFailure(f"The worker may not read {one_line(name)}.")
    return path


def _check_guild(guild_id: int, relative: Path) -> None:
    parts = relative.parts
    if len(parts) < 2 or parts[0] not in _GUILD_FOLDERS:
        return
    if parts[1] != str(guild_id):
        raise PermanentFailure(f"{one_line(str(relative))} belongs to another guild.")
