"""Opening what people may have put in a folder: plain files only, never a pipe to hang on."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NotPlainFile(OSError):
    """A directory, pipe, socket or device where a file should be."""

    def __init__(self, path: Path, mode: int) -> None:
        self.path = path
        self.what = _KINDS.get(stat.S_IFMT(mode), "not a plain file")
        super().__init__(f"{path.name} is {self.what}")


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def opened(path: Path, flags: int, mode: int = 0) -> Iterator[int]:
    """A descriptor of the plain file at ``path``. Raises OSError, NotPlainFile among them."""
    # Without O_NONBLOCK a pipe would wait here for its other end.
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, mode)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotPlainFile(path, found.st_mode)
        yield descriptor
    finally:
        os.close(descriptor)


def told(error: OSError) -> str:
    """The system's reason alone, without number and path."""
    return (error.strerror or str(error)).lower()


def read_all(descriptor: int, limit_bytes: int | None = None) -> bytes:
    """The rest of the file, at most ``limit_bytes`` and one more to tell that there is more."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read() if limit_bytes is None else file.read(limit_bytes + 1)


def read_if_there(path: Path) -> bytes:
    """The file's content, b"" where there is none."""
    try:
        with opened(path, os.O_RDONLY) as descriptor:
            return read_all(descriptor)
    except FileNotFoundError:
        if path.is_symlink():
            raise OSError(f"{path.name} is a link that leads nowhere") from None
        return b""
