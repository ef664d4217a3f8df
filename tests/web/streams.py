"""A web server in a process of its own, and a reader of its streams as a browser would be."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

PROJECT = Path(__file__).resolve().parent.parent.parent
START_S = 60.0
COMMENT = "comment"
SERVERS = ("daphne", "uvicorn")


@dataclass
class Server:
    """A running console; ``port`` is on 127.0.0.1."""

    kind: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """An answer's status and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with closing(connection):
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def figure(self, name: str) -> float:
        """The sum of a metric's series as /metrics gives it now."""
        lines = [line.rsplit(" ", 1) for line in self.get("/metrics")[1].splitlines()]
        return sum(float(value) for series, value in lines if series.partition("{")[0] == name)

    def stop(self, *, patience_s: float = 20) -> float:
        """Ask it to end, and how many seconds that took; raises if it does not."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(patience_s)
        return time.monotonic() - began


@contextmanager
def serving(kind: str, folder: Path, database_url: str, **environment: str) -> Iterator[Server]:
    """A console of that kind that answers, with those settings; ended afterwards."""
    with serving_at(free_port(), kind, folder, database_url, **environment) as server:
        yield server


@contextmanager
def serving_at(
    port: int, kind: str, folder: Path, database_url: str, **environment: str
) -> Iterator[Server]:
    """As ``serving``, at a port that the caller chose."""
    log = folder / f"{kind}-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command(kind, port),
            cwd=PROJECT,
            env=os.environ | environment_of(folder, database_url) | environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    server = Server(kind, port, process, log)
    try:
        wait_until_it_answers(server)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def environment_of(folder: Path, database_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "tests.web.live_site",
        "GUILDQUEUE_DATA_DIR": str(folder / "data"),
        "GUILDQUEUE_LOG_FORMAT": "json",
        # Sessions of the test's own client are signed with it.
        "GUILDQUEUE_SECRET_KEY": str(settings.SECRET_KEY),
        "QUEUE_POLL_SECONDS": "0.5",
        "LIVE_HEARTBEAT_SECONDS": "1",
    }


def command(kind: str, port: int) -> list[str]:
    application = "console.asgi:application"
    if kind == "daphne":
        endpoint = f"tcp:port={port}:interface=127.0.0.1:backlog=4096"
        return [sys.executable, "-m", "daphne", "-v", "0", "-e", endpoint, application]
    where = ["--host", "127.0.0.1", "--port", str(port)]
    return [sys.executable, "-m", "uvicorn", *where, "--log-level", "warning", application]


def wait_until_it_answers(server: Server) -> None:
    give_up_at = time.monotonic() + START_S
    while time.monotonic() < give_up_at:
        if server.process.poll() is not None:
            break
        try:
            if server.get("/healthz")[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"{server.kind} does not answer:\n{server.log.read_text()[-4000:]}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Event:
    """A comment has the name ``comment``."""

    name: str = ""
    id: str = ""
    data: str = ""
    retry: str = ""


@dataclass
class Reader:
    """One open stream. ``status`` and ``headers`` are the answer's."""

    sock: socket.socket
    response: http.client.HTTPResponse
    seen: list[Event] = field(default_factory=list)

    @classmethod
    def open(cls, server: Server, path: str, **headers: str) -> Self:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.connect()
        sock = connection.sock
        connection.request("GET", path, headers={"Accept": "text/event-stream"} | headers)
        return cls(sock, connection.getresponse())

    @property
    def status(self) -> int:
        return self.response.status

    def next(self, *, timeout_s: float = 15) -> Event | None:
        """The next event or comment, None at the stream's end; raises TimeoutError."""
        self.sock.settimeout(timeout_s)
        event, is_empty = Event(), True
        while line := self.response.readline().decode():
            text = line.rstrip("\n")
            if not text and not is_empty:
                self.seen.append(event)
                return event
            if text:
                is_empty = False
                _take(event, text)
        return None

    def next_named(self, name: str, *, timeout_s: float = 15) -> Event:
        """The next event of that name, whatever comes before it."""
        give_up_at = time.monotonic() + timeout_s
        while (left_s := give_up_at - time.monotonic()) > 0:
            event = self.next(timeout_s=left_s)
            if event is None:
                raise AssertionError(f"the stream ended before {name!r}: {self.seen[-3:]}")
            if event.name == name:
                return event
        raise TimeoutError(name)

    def ends(self, *, timeout_s: float = 15) -> list[Event]:
        """What still comes until the stream ends; raises TimeoutError if it does not."""
        give_up_at = time.monotonic() + timeout_s
        n_seen = len(self.seen)
        try:
            while self.next(timeout_s=max(0.01, give_up_at - time.monotonic())) is not None:
                pass
        except (ConnectionResetError, http.client.IncompleteRead):
            pass
        return self.seen[n_seen:]

    def close(self) -> None:
        self.response.close()
        self.sock.close()


def _take(event: Event, line: str) -> None:
    if line.startswith(":"):
        event.name = COMMENT
        return
    name, _, value = line.partition(":")
    value = value.removeprefix(" ")
    match name:
        case "event":
            event.name = value
        case "id":
            event.id = value
        case "retry":
            event.retry = value
        case "data":
            event.data += ("\n" if event.data else "") + value


def cookie(user: User) -> str:
    """The Cookie header of a browser in which the user has just signed in."""
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def wait_for(what: Any, *, timeout_s: float = 20) -> None:
    """Return once ``what()`` is true; raises TimeoutError."""
    give_up_at = time.monotonic() + timeout_s
    while not what():
        if time.monotonic() > give_up_at:
            raise TimeoutError
        time.sleep(0.02)
