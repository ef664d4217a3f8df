"""The embedded server's life: shared by every process that uses it, and by them alone.

Each user process holds a shared lock on ``users.lock`` for life; a detached watcher waits
for the exclusive one and then stops the server. The kernel releases locks, so every kind of
death counts.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from console.embedded import sockets
from console.embedded.cluster import (
    DATABASE,
    PORT,
    ROLE,
    Cluster,
    EmbeddedServerError,
    is_alive,
    program,
)

__all__ = ["ConnectionInfo", "EmbeddedServerError", "ensure_running", "leave", "program", "recheck"]

_PROJECT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class ConnectionInfo:
    """How to reach a running server; ``pid`` is its postmaster's."""

    socket_dir: Path
    pid: int
    log: Path
    user: str = ROLE
    database: str = DATABASE
    port: int = PORT

    def url(self, database: str = DATABASE) -> str:
        from urllib.parse import quote  # noqa: PLC0415 - only tests and benchmarks need it

        return f"postgresql://{self.user}@/{database}?host={quote(str(self.socket_dir), safe='')}"

    @property
    def socket(self) -> Path:
        return self.socket_dir / f".s.PGSQL.{self.port}"


_guard = threading.Lock()
_users: dict[Path, int] = {}
_known: dict[Path, ConnectionInfo] = {}


def ensure_running(data_dir: Path, *, durable: bool = True) -> ConnectionInfo:
    """The server of ``data_dir``, made and started if need be; this process now uses it.

    About 30 microseconds when this process asked before and the server lives. ``durable``
    counts at creation only: without it a power cut may cost the data, for tests.

    Raises EmbeddedServerError with the server's last words.
    """
    known = _known.get(data_dir)
    if known is not None and is_alive(known.pid):
        return known
    return recheck(data_dir, durable=durable)


def recheck(data_dir: Path, *, durable: bool = True) -> ConnectionInfo:
    """As ensure_running, but believes nothing that it found out before."""
    place = data_dir.resolve()
    with _guard:
        _become_user(place)
        with _locked(place / "start.lock", fcntl.LOCK_EX):
            info = _running(Cluster(place), durable=durable)
            _ensure_watcher(place)
        _known[data_dir] = info
        return info


def leave(data_dir: Path, *, patience_s: float = 30) -> None:
    """Stop being a user, and wait for the end of the server if we were the last one."""
    place = data_dir.resolve()
    pid = Cluster(place).live_pid()
    with _guard:
        _known.pop(data_dir, None)
        descriptor = _users.pop(place, None)
        if descriptor is not None:
            os.close(descriptor)
    if pid is None:
        return
    give_up_at = time.monotonic() + patience_s
    while time.monotonic() < give_up_at and is_alive(pid) and not _is_used(place):
        time.sleep(0.02)


def _running(cluster: Cluster, *, durable: bool) -> ConnectionInfo:
    if not cluster.path.exists():
        cluster.create(durable=durable)
    socket_dir = sockets.socket_folder(cluster.data_dir, cluster.account)
    pid = cluster.live_pid()
    info = ConnectionInfo(socket_dir, pid or 0, cluster.log)
    if pid is not None and info.socket.exists():
        return info
    cluster.stop()  # a server whose socket was swept away answers nobody
    return ConnectionInfo(socket_dir, cluster.start(socket_dir), cluster.log)


def _become_user(place: Path) -> None:
    if place in _users:
        return
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = _open_lock(place / "users.lock")
    except OSError as error:
        raise EmbeddedServerError(f"the data directory {place} cannot be used: {error}") from error
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    _users[place] = descriptor


def _ensure_watcher(place: Path) -> None:
    """Spawn the one that stops the server, unless one lives. Called under start.lock."""
    descriptor = _open_lock(place / "watcher.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return
    # The lock goes over with the descriptor, so there is no moment without its holder.
    python_path = os.pathsep.join([str(_PROJECT), os.environ.get("PYTHONPATH", "")])
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": python_path}
    words = [sys.executable, "-m", "console.embedded.watcher", str(place), str(descriptor)]
    launcher = ["sh", "-c", '"$0" "$@" & exit 0', *words]
    try:
        subprocess.run(
            launcher,
            check=True,
            cwd="/",
            env=environment,
            pass_fds=[descriptor],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    finally:
        os.close(descriptor)


def _is_used(place: Path) -> bool:
    """Whether some process uses the server; the watcher about to stop it does not count."""
    if not place.exists():
        return False
    descriptor = _open_lock(place / "users.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _is_shared(descriptor)
    else:
        return False
    finally:
        os.close(descriptor)


def _is_shared(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # the watcher alone ever asks for the whole of it
    return True


@contextlib.contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    descriptor = _open_lock(path)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    # Read-only, so that a second account that may enter the folder can take part.
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
