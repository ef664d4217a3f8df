"""Which files and addresses whoever is not the operator may name: a worker opens what they say."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId

AUDIO_FOLDER = "audio"
RESULT_FOLDERS = ("transcripts", "documents")


def check_audio_uri(field: str, uri: object, *, guild_id: GuildId) -> None:
    """Raises InvalidInput unless ``uri`` is None, a path below the guild's audio, or an http URL.

    Relative paths are below the media root: ``audio/GUILD/…``. A worker reads whatever a track
    names with its own rights, so neither an absolute path nor another guild's is taken.
    """
    if uri is None or is_web_address(uri) or is_below(uri, folders=(AUDIO_FOLDER,), guild=guild_id):
        return
    allowed = f"{AUDIO_FOLDER}/{guild_id}/… below the media folder, or an http(s) URL"
    raise InvalidInput(field, uri, allowed)


def check_result(result: Mapping[str, Any], *, guild_id: GuildId) -> None:
    """Raises InvalidInput if ``result`` names a file that is not where its guild's results are.

    The document's handler and the page open what a finished job names.
    """
    if "path" in result and not is_below(result["path"], folders=RESULT_FOLDERS, guild=guild_id):
        allowed = " or ".join(f"{folder}/{guild_id}/…" for folder in RESULT_FOLDERS)
        raise InvalidInput("result.path", result["path"], f"{allowed} below the media folder")


def is_web_address(uri: object) -> bool:
    """Whether ``uri`` is an http or https URL that every reader splits alike."""
    if not isinstance(uri, str) or not uri.isprintable() or any(c.isspace() for c in uri):
        return False
    if "\\" in uri or "://" not in uri:
        return False
    try:
        parts = urlsplit(uri)
        # Reading the port checks it.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_below(name: object, *, folders: tuple[str, ...], guild: GuildId) -> bool:
    """Whether ``name`` is a plain relative path of a file below FOLDER/GUILD."""
    if not isinstance(name, str) or not name.isprintable() or "\\" in name:
        return False
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or PurePosixPath(name).is_absolute():
        return False
    return len(parts) > 2 and parts[0] in folders and parts[1] == str(guild)
