"""``manage.py queue`` as processes of real accounts, which may reach the tests' database."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from console.embedded import server
from tests.db.command import Ended
from tests.db.embedded_users import PYTHON_PATH
from tests.lane.accounts import PROJECT, Account

# No account is in it but by root's word: only the processes below may open the socket.
GROUP = 61_234


@dataclass(frozen=True)
class Asked:
    """A call: who, the words after ``queue``, and what surrounds the process."""

    who: Account
    words: Sequence[object]
    cwd: Path = PROJECT
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CommandLine:
    """Runs the real command with an interpreter that every account may run."""

    python: str
    database_url: str

    def queue(
        self,
        who: Account,
        *words: object,
        cwd: Path = PROJECT,
        env: Mapping[str, str] | None = None,
    ) -> Ended:
        """What the command said to that account, and its exit code."""
        return self.run(Asked(who, words, cwd, env or {}))

    def run(self, asked: Asked) -> Ended:
        done = subprocess.run(
            [self.python, str(PROJECT / "manage.py"), "queue", *map(str, asked.words)],
            cwd=asked.cwd,
            env={
                "PYTHONPATH": f"{PROJECT / 'queue'}:{PYTHON_PATH}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "DATABASE_URL": self.database_url,
                "GUILDQUEUE_SECRET_KEY": "x" * 60,
                **asked.env,
            },
            user=asked.who.uid,
            group=asked.who.gid,
            extra_groups=[GROUP],
            capture_output=True,
            text=True,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def each(self, *asked: Asked) -> list[Ended]:
        """The same for several at once, in the order given."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.run, asked))


@contextmanager
def open_to_group() -> Iterator[None]:
    """Let the group reach the embedded server's socket inside the block; nothing for another."""
    if settings.DATABASES["default"]["ENGINE"] != "console.embedded":
        yield
        return
    socket = server.ensure_running(settings.DATA_DIR).socket
    paths = [socket, *(p for p in socket.parents if p.stat().st_mode & 0o007 == 0)]
    before = [(path, path.stat()) for path in paths]
    try:
        for path in paths:
            os.chown(path, -1, GROUP)
            path.chmod(0o770 if path == socket else 0o710)
        yield
    finally:
        for path, found in before:
            os.chown(path, -1, found.st_gid)
            path.chmod(found.st_mode & 0o777)
