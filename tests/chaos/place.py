"""The run's own PostgreSQL server, and the ways in which it is taken away."""

import os
import random
import signal
import time
from pathlib import Path

import psycopg

from console.embedded import server
from console.embedded.cluster import Cluster, is_alive
from tests.chaos.plan import Harm

PATIENCE_S = 30


class Place:
    """A server in ``data_dir``; its watcher stops it should this process be killed."""

    def __init__(self, data_dir: Path, *, durable: bool) -> None:
        self.data_dir = data_dir
        self.info = server.ensure_running(data_dir, durable=durable)

    @property
    def url(self) -> str:
        """The same after every restart."""
        return self.info.url()

    def restart(self, how: Harm, chance: random.Random) -> None:
        """Take the server away and bring it back, at once or after a second."""
        if how is Harm.BACKEND:
            self._kill_backend()
            return
        if how is Harm.FAST:
            Cluster(self.data_dir).stop()
        else:
            number = signal.SIGQUIT if how is Harm.IMMEDIATE else signal.SIGKILL
            os.kill(self.info.pid, number)
            _wait_for_end(self.info.pid)
        time.sleep(chance.choice([0, chance.random()]))
        self.info = server.recheck(self.data_dir)

    def logs(self) -> str:
        """All that the server logged."""
        found = sorted(self.data_dir.glob("postgres.log*"))
        return "\n".join(path.read_text("utf-8", "replace") for path in found)

    def leave(self) -> None:
        server.leave(self.data_dir)

    def _kill_backend(self) -> None:
        """Kill a process that serves one of ours; the server then ends all and recovers."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"
            ).fetchone()
            if found:
                os.kill(found[0], signal.SIGKILL)


def _wait_for_end(pid: int) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while is_alive(pid):
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"the server (process {pid}) does not end")
        time.sleep(0.01)
