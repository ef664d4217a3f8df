"""The folders of guilds in the data directory: where a declaration may lie."""

import os
from collections.abc import Collection
from pathlib import Path

from guildqueue.store.grant_files import DECLARATION

TEXT = """\
# Who may say what runs next, besides the account that owns this file.
[queue.priority]
sources = [{sources}]
"""


def make_folder(root: Path) -> None:
    """The folder, if it is not there: this account's, for nobody else to write. Raises OSError."""
    # Whoever may write it may put a declaration of his own there, so no umask may widen it.
    data_dir = root.parent.parent
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    root.parent.mkdir(mode=0o755, exist_ok=True)
    root.mkdir(mode=0o755, exist_ok=True)


def write_declaration(root: Path, sources: Collection[str]) -> Path | None:
    """The declaration of those sources, None where one is there, which stays. Raises OSError."""
    path = root / DECLARATION
    listed = ", ".join(f'"{source}"' for source in sources)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(TEXT.format(sources=listed))
    return path
