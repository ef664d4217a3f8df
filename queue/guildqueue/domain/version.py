"""Versions of what is shown, ``<number>.<digest>``: which is newer, and whether they differ."""

import hashlib
from typing import NamedTuple


class Version(NamedTuple):
    """``number`` is the moment's in the database, comparable between processes.

    Two that show the same have the same ``digest``.
    """

    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.number}.{self.digest}"


def version_of(number: int, shown: object) -> str:
    """The version of ``shown``, by its repr, as read at the moment of that number."""
    return str(Version(number, hashlib.blake2b(repr(shown).encode(), digest_size=12).hexdigest()))


def parse_version(text: str) -> Version:
    """Raises ValueError for what is no version."""
    number, _, digest = text.partition(".")
    return Version(int(number), digest)
