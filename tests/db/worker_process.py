"""Real worker processes for tests, and waiting for what they do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 30.0


def until(fact: Callable[[], bool], *, patience_s: float = PATIENCE_S) -> None:
    """Return as soon as ``fact`` holds; fail if it never does."""
    give_up_at = time.monotonic() + patience_s
    while not fact():
        assert time.monotonic() < give_up_at, f"waited {patience_s} s in vain"
        time.sleep(0.02)


@dataclass
class Workers:
    """Starts ``manage.py worker`` on the test database, logs kept in ``folder``."""

    database_url: str
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """A worker of its own process group."""
        media = self.folder / "media"
        media.mkdir(exist_ok=True)
        ours = {
            "DATABASE_URL": self.database_url,
            "DJANGO_SETTINGS_MODULE": "tests.db.worker_settings",
            "GUILDQUEUE_DATA_DIR": str(self.folder),
            "GUILDQUEUE_MEDIA_ROOT": str(media),
            "GUILDQUEUE_LOG_FORMAT": "json",
            "QUEUE_POLL_SECONDS": "0.1",
        }
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "worker", *arguments],
                cwd=PROJECT,
                env=os.environ | ours | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def run_once(self, *arguments: str, **environment: str) -> int:
        """The exit code of a worker that does what is claimable now."""
        return self.start("--once", *arguments, **environment).wait(PATIENCE_S)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def runs(self) -> list[str]:
        """``job-token`` of every handler run that began, in no order."""
        return [path.name for path in (self.folder / "media").glob("[0-9]*")]

    def allow(self, name: str) -> None:
        """Let the handlers end that wait for ``name``."""
        (self.folder / "media" / name).touch()

    def began_at(self, run: str) -> int:
        """When that run began, in nanoseconds."""
        return (self.folder / "media" / run).stat().st_mtime_ns

    def handler_pid(self, run: str) -> int:
        """The process in which that run was."""
        return int((self.folder / "media" / run).read_text())


@contextmanager
def worker_processes(database_url: str, folder: Path) -> Iterator[Workers]:
    """Workers, none of which outlives the test."""
    workers = Workers(database_url, folder)
    try:
        yield workers
    finally:
        for process in workers.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if workers.started:
            print(workers.log)  # noqa: T201 - shown where the test failed


def is_alive(pid: int) -> bool:
    """Whether there is such a process that is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
