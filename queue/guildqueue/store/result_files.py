"""The files that a session's jobs left below the media folder, and taking them away."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.location import RESULT_FOLDERS, is_below


def remove_results(
    media_root: Path, guild_id: GuildId, session_id: SessionId, names: Iterable[str | None]
) -> int:
    """How many files were removed: those named, and all in the session's own folders.

    A name counts only below the guild's own folders and not in another session's. What is gone
    already, or cannot be removed, is left.
    """
    root = media_root.resolve()
    homes = [Path(folder, str(guild_id)) for folder in RESULT_FOLDERS]
    removed = 0
    for home in homes:
        own = home / str(session_id)
        # A link may lead anywhere.
        if (root / own).is_dir() and (root / own).resolve() == root / own:
            removed += _remove_folder(root / own)
    for name in names:
        if name is None or not is_below(name, folders=RESULT_FOLDERS, guild=guild_id):
            continue
        path = root / name
        if not _is_anothers(name, session_id) and path.resolve() == path:
            removed += _remove_file(path)
    return removed


def _is_anothers(name: str, session_id: SessionId) -> bool:
    """Whether the file lies in a folder that is another session's: a worker names what it likes."""
    _, _, first, *rest = name.split("/")
    return bool(rest) and first.isdecimal() and first != str(session_id)


def _remove_folder(folder: Path) -> int:
    n_before = _n_files(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return n_before - _n_files(folder)


def _n_files(folder: Path) -> int:
    return sum(not path.is_dir() for path in folder.rglob("*"))


def _remove_file(path: Path) -> int:
    try:
        path.unlink()
    except OSError:
        return 0
    return 1
