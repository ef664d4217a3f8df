"""A declaration in every shape in which nobody can rely on it."""

import os
from collections.abc import Callable
from pathlib import Path

from guildqueue.store.grant_files import LIMIT_BYTES

FAULTY: dict[str, Callable[[Path], object]] = {
    "a directory": lambda path: path.mkdir(),
    "leads nowhere": lambda path: path.symlink_to("no-such-file"),
    "a pipe": os.mkfifo,
    "symbolic links": lambda path: path.symlink_to(path.name),
    "not text": lambda path: path.write_bytes(b"\x89PNG\xff"),
    "not TOML": lambda path: path.write_bytes(b"[priority"),
    "is not a table": lambda path: path.write_bytes(b"priority = 1\nqueue = 1\n"),
    "larger than": lambda path: path.write_bytes(b"#" * (LIMIT_BYTES + 1)),
}
"""By what a refusal says of it: what makes a file so, beside a queue.txt or in a guild's root."""
