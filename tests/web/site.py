"""A console of its own, as a process, on a database server of its own."""

import http.client
import os
import queue
import socket
import subprocess
import sys
import threading
from pathlib import Path

from console.embedded import server
from console.embedded.cluster import Cluster
from tests.db.embedded_users import wait_until

PROJECT = Path(__file__).resolve().parent.parent.parent


class Site:
    """A console of its own on a server of its own, which is not the embedded backend's."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.pool_max = 5
        self.info = server.ensure_running(data_dir, durable=False)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        environment = os.environ | {
            "DATABASE_URL": self.info.url(),
            "DATABASE_POOL_MAX": str(self.pool_max),
            "GUILDQUEUE_DATA_DIR": str(data_dir),
            "DJANGO_SETTINGS_MODULE": "tests.web.slow_site",
        }
        migrate = [sys.executable, "manage.py", "migrate", "-v", "0"]
        subprocess.run(migrate, cwd=PROJECT, env=environment, check=True)
        self.console = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "daphne",
                "-v",
                "0",
                "-p",
                str(self.port),
                "console.asgi:application",
            ],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.words: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self.read_words)
        self.reader.start()
        assert wait_until(lambda: self.status("/backend") == 200, timeout_s=30)

    def get(self, path: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()
        finally:
            connection.close()

    def status(self, path: str) -> int:
        try:
            return self.get(path)[0]
        except OSError:
            return 0

    def read_words(self) -> None:
        assert self.console.stdout is not None
        for line in self.console.stdout:
            self.words.put(line)

    def wait_in_database(self) -> None:
        assert self.words.get(timeout=20) == "in the database\n"

    def stop_database(self) -> None:
        Cluster(self.data_dir).stop()

    def start_database(self) -> None:
        server.recheck(self.data_dir)

    def close(self) -> None:
        self.console.terminate()
        self.reader.join(timeout=20)
        self.console.wait(timeout=20)
        assert self.console.stdout is not None
        self.console.stdout.close()
        server.leave(self.data_dir)
