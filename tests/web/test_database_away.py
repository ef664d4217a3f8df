"""A database that goes away: 503 while it is gone, and back by itself with it."""

import http.client
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from console.embedded import server
from console.embedded.cluster import Cluster
from tests.db.embedded_users import wait_until

PROJECT = Path(__file__).resolve().parent.parent.parent


class Site:
    """A console of its own on a server of its own, which is not the embedded backend's."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.info = server.ensure_running(data_dir, durable=False)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        environment = os.environ | {
            "DATABASE_URL": self.info.url(),
            "DATABASE_POOL_MAX": "3",
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


@pytest.fixture(autouse=True)
def _database_is_back(site: Site) -> Iterator[None]:
    yield
    site.start_database()


def answer_while_the_database_stops(site: Site, path: str) -> tuple[int, dict[str, str], str]:
    answers: list[tuple[int, dict[str, str], str]] = []
    request = threading.Thread(target=lambda: answers.append(site.get(path)))
    request.start()
    site.wait_in_database()
    site.stop_database()
    request.join(timeout=30)
    return answers[0]


def test_a_page_caught_in_mid_request_is_a_503_that_says_so_and_it_comes_back(site: Site) -> None:
    status, headers, text = answer_while_the_database_stops(site, "/slow")

    assert status == 503
    assert headers["Retry-After"] == "5"
    assert headers["Cache-Control"] == "no-store"
    assert "cannot be reached just now" in text
    assert "Traceback" not in text

    assert site.status("/backend") == 503
    site.start_database()
    assert wait_until(lambda: site.status("/backend") == 200, timeout_s=10)


def test_a_call_of_the_api_caught_in_mid_request_is_a_problem(site: Site) -> None:
    status, headers, text = answer_while_the_database_stops(site, "/api/slow")
    site.start_database()

    assert status == 503
    assert headers["Content-Type"] == "application/problem+json"
    assert json.loads(text)["status"] == 503
    assert wait_until(lambda: site.status("/backend") == 200, timeout_s=10)


def test_a_connection_that_is_lost_after_the_view_is_a_503_too(site: Site) -> None:
    assert site.status("/after") == 503
    assert site.status("/backend") == 200


def test_requests_share_the_pools_connections(site: Site) -> None:
    backends = {site.get("/backend")[2] for _ in range(100)}

    assert len(backends) <= 3
    with psycopg.connect(site.info.url()) as connection:
        count = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'guildqueue%'"
        ).fetchone()
    assert count is not None
    assert count[0] <= 3


def test_a_connection_that_the_server_ended_costs_no_request(site: Site) -> None:
    victim = site.get("/backend")[2]
    with psycopg.connect(site.info.url()) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", [int(victim)])

    assert [site.status("/backend") for _ in range(5)] == [200] * 5
