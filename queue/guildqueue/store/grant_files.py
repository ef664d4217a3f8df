"""Reading a queue's own declaration, and whose it is, as the operating system has it."""

import os
import pwd
from pathlib import Path

from guildqueue.domain.grant import (
    GUILD_TABLE,
    LANE_TABLE,
    Declaration,
    MalformedDeclaration,
    declared_sources,
)
from guildqueue.store.plain_files import NotPlainFile, opened, read_all, told

DECLARATION = "queue.toml"
LIMIT_BYTES = 65_536


def read_guild_declaration(root: Path) -> Declaration:
    """The declaration at the root that a guild's record names; nothing here raises.

    Its owner is the operator, or the root's owner where there is no file.
    """
    if not root.is_absolute():
        return _faulty(root, "the guild's root is not an absolute path", owner_uid=None)
    try:
        owner = _owner_of_folder(root)
    except OSError as error:
        return _faulty(root, f"the guild's root: {told(error)}", owner_uid=None)
    return _read(root / DECLARATION, table=GUILD_TABLE, owner_uid=owner, own_file_decides=True)


def read_lane_declaration(folder: Path, *, anchor: Path) -> Declaration:
    """The declaration beside a queue.txt, which is the ``anchor``: its owner is the operator.

    Raises OSError if the anchor is not there.
    """
    owner = anchor.stat().st_uid
    return _read(folder / DECLARATION, table=LANE_TABLE, owner_uid=owner, own_file_decides=False)


def account_name(uid: int) -> str | None:
    """The account's name in the password database; never what the environment says."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _read(
    path: Path, *, table: tuple[str, ...], owner_uid: int, own_file_decides: bool
) -> Declaration:
    try:
        with opened(path, os.O_RDONLY) as descriptor:
            # Owner and content of one and the same file, whatever is put in its place meanwhile.
            if own_file_decides:
                owner_uid = os.fstat(descriptor).st_uid
            content = read_all(descriptor, LIMIT_BYTES)
    except FileNotFoundError:
        if path.is_symlink():
            return _faulty(path, f"{path.name} is a link that leads nowhere", owner_uid=owner_uid)
        return _declaring(owner_uid, frozenset())
    except OSError as error:
        named = isinstance(error, NotPlainFile)
        fault = str(error) if named else f"{path.name}: {told(error)}"
        return _faulty(path, fault, owner_uid=owner_uid)
    if len(content) > LIMIT_BYTES:
        return _faulty(path, f"{path.name} is larger than {LIMIT_BYTES} bytes", owner_uid=owner_uid)
    try:
        return _declaring(owner_uid, declared_sources(content, table))
    except MalformedDeclaration as error:
        return _faulty(path, f"{path.name}: {error}", owner_uid=owner_uid)


def _owner_of_folder(root: Path) -> int:
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return os.fstat(descriptor).st_uid
    finally:
        os.close(descriptor)


def _declaring(owner_uid: int, sources: frozenset[str]) -> Declaration:
    return Declaration(owner_uid=owner_uid, owner_name=account_name(owner_uid), sources=sources)


def _faulty(place: Path, fault: str, *, owner_uid: int | None) -> Declaration:
    name = None if owner_uid is None else account_name(owner_uid)
    return Declaration(owner_uid=owner_uid, owner_name=name, fault=fault, place=str(place))
