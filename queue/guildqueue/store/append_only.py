"""Files that are only ever added to, so that a crash at any byte loses nothing before it.

A line is whole or it is not there: a reader passes over a torn last line, and the next writer
ends it, so that it stays where it is for whoever looks into it.
"""

import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from guildqueue.domain.errors import QueueBusy, shortened
from guildqueue.store.plain_files import opened, read_if_there

# Every file is opened with O_NOFOLLOW here: through a link planted in its place, the operator
# would write to a file that is none of the queue's.


@contextmanager
def locked(path: Path, *, like: Path, patience_s: float) -> Iterator[None]:
    """Alone with the folder, against every process that locks ``path``.

    Whoever may write ``like`` may take the lock, so that no stranger can keep it. Raises
    QueueBusy if it is not to be had within ``patience_s``.
    """
    _create(path, like=like, writers=True, readers=False)
    with opened(path, os.O_RDWR | os.O_NOFOLLOW) as descriptor:
        give_up_at = time.monotonic() + patience_s
        # The system drops the lock with the descriptor, also when the process is killed.
        while not _try_lock(descriptor):
            if time.monotonic() > give_up_at:
                raise QueueBusy
            time.sleep(0.005)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def append_line(path: Path, line: str, *, like: Path, writers: bool) -> None:
    """Add the line, on the disk when this returns. To be called under the folder's lock.

    A file that is not there is made, with the owner and the readers of ``like``; with
    ``writers``, whoever may write that one may write this.
    """
    _create(path, like=like, writers=writers, readers=True)
    with opened(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW) as descriptor:
        start = b"" if _ends_whole(descriptor) else b"\n"
        _write_whole(descriptor, start + _encoded(line))
        os.fsync(descriptor)


def append_line_from_outside(path: Path, line: str) -> None:
    """Add the line to a file that is there, for one who has no right to the lock.

    One write, and a line end before it, as the file may not be readable for the caller.
    """
    with opened(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW) as descriptor:
        _write_whole(descriptor, b"\n" + _encoded(line))


def append_text_line(path: Path, line: str) -> None:
    """Add the line to a text where half a line would mean something else than all of it.

    It is written as a comment and becomes itself by one byte, so a crash leaves it or nothing
    of it. To be called under the folder's lock.
    """
    content = _encoded(line)
    # Not O_APPEND, which on Linux sends every write to the end, wherever it is meant to go.
    with opened(path, os.O_RDWR | os.O_NOFOLLOW) as descriptor:
        size = os.fstat(descriptor).st_size
        start = b"" if _ends_whole(descriptor) else b"\n"
        os.lseek(descriptor, size, os.SEEK_SET)
        _write_whole(descriptor, start + b"#" + content[1:])
        os.fsync(descriptor)
        os.pwrite(descriptor, content[:1], size + len(start))
        os.fsync(descriptor)


class JsonLines:
    """The lines of a file that are JSON objects, whatever else is between them.

    Iterated once, about 3 microseconds a line; then ``complaint`` tells of what was passed over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_strange = 0
        self.first_strange = (0, "")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        # Not splitlines(), which also breaks at characters that JSON strings may hold. And one
        # object at a time: 100,000 kept at once cost four times as much in garbage collections.
        lines = read_if_there(self.path).decode("utf-8", "replace").split("\n")
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                yield found
            else:
                self.n_strange += 1
                if self.n_strange == 1:
                    self.first_strange = (number, line)

    @property
    def complaint(self) -> str:
        """What was passed over; "" for nothing."""
        if not self.n_strange:
            return ""
        number, line = self.first_strange
        more = f" and {self.n_strange - 1} more" if self.n_strange > 1 else ""
        told = shortened(line, limit=40)
        return f"{self.path.name} line {number}{more} passed over, not a record: {told}"


def _encoded(line: str) -> bytes:
    # Half a surrogate pair, which JSON text may spell, comes out as JSON's own escape of it.
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _write_whole(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _create(path: Path, *, like: Path, writers: bool, readers: bool) -> None:
    """Make the empty file if there is none. Raises FileNotFoundError if there is no ``like``."""
    model = like.stat()
    try:
        with opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600) as descriptor:
            with suppress(PermissionError):  # what is not root's to give away stays as it is
                os.fchown(descriptor, model.st_uid, model.st_gid)
            os.fchmod(descriptor, _mode_like(model.st_mode, writers=writers, readers=readers))
    except FileExistsError:
        return
    with suppress(PermissionError):
        _sync_folder(path.parent)


def _mode_like(mode: int, *, writers: bool, readers: bool) -> int:
    """Read and write for the owner, and for group and others what they may with the model."""
    may_write = mode & (stat.S_IWGRP | stat.S_IWOTH) if writers else 0
    may_read = mode & (stat.S_IRGRP | stat.S_IROTH) if readers else 0
    return 0o600 | may_write | may_write << 1 | may_read


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
