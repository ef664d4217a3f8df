"""Folders of file-backed queues, also for accounts that may not look into root's."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lane.accounts import Account, account


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A queue of this process's account: ``x``, ``d`` and ``a``, which needs ``d``."""
    (tmp_path / "queue.txt").write_text("x\nd\na: d\n")
    return tmp_path


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that every account may look into, and only its owner write to."""
    made = Path(tempfile.mkdtemp(prefix="guildqueue-lane-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def operator() -> Account:
    return account("daemon")


@pytest.fixture
def stranger() -> Account:
    return account("nobody")


@pytest.fixture
def operators_folder(open_folder: Path, operator: Account) -> Path:
    """The same queue, of another account."""
    queue = open_folder / "queue.txt"
    queue.write_text("x\nd\na: d\n")
    queue.chmod(0o644)
    operator.owns(open_folder, queue)
    return open_folder
