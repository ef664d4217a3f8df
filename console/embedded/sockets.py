"""Where the embedded server's socket lies: a private folder whose path is short enough."""

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from console.embedded.account import Account

# Linux has room for 107 bytes, macOS for 103, less "/.s.PGSQL.5432.lock" for the lock file.
_LONGEST_BYTES = 84


def socket_folder(data_dir: Path, account: Account) -> Path:
    """A folder of mode 700 for the socket, the same one for every process.

    ``data_dir``/socket where that path will do, else a folder for temporary files that
    ``data_dir``/socket-folder names. One that is no longer ours alone is replaced.
    """
    beside = data_dir / "socket"
    # A comma separates hosts in every PostgreSQL client.
    if len(os.fsencode(beside)) <= _LONGEST_BYTES and "," not in str(beside):
        beside.mkdir(mode=0o700, exist_ok=True)
        account.own(beside)
        return beside
    note = data_dir / "socket-folder"
    if note.exists():
        noted = Path(note.read_text("utf-8"))
        if _is_private(noted, account):
            return noted
    made = Path(tempfile.mkdtemp(prefix="guildqueue-", dir=_short_root()))  # mode 700
    account.own(made)
    note.write_text(str(made), "utf-8")
    return made


def discard(data_dir: Path) -> None:
    """Remove a folder that socket_folder made elsewhere. The server must have ended."""
    note = data_dir / "socket-folder"
    if note.exists():
        with contextlib.suppress(OSError):
            Path(note.read_text("utf-8")).rmdir()
        note.unlink()


def quoted(path: Path) -> str:
    """``path`` as postgresql.conf's list of folders wants it: quoted twice over."""
    inner = str(path).replace('"', '""').replace("\\", "\\\\").replace("'", "''")
    return f"'\"{inner}\"'"


def _is_private(path: Path, account: Account) -> bool:
    # A stranger could have made a folder of that name after the temporary files were cleaned.
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and stat.S_IMODE(found.st_mode) == 0o700
        and found.st_uid == account.uid
    )


def _short_root() -> str:
    preferred = tempfile.gettempdir()
    return preferred if len(os.fsencode(preferred)) <= _LONGEST_BYTES - 20 else "/tmp"  # noqa: S108
