"""The parent of `make run`: prepare, start, tell where to go, tend, stop."""

import os
import socket
import sys
import time
import urllib.error
import urllib.request

import django
from django.conf import settings
from django.core.management import call_command, get_commands
from django.db import connections

from console.running.above import MakeAbove
from console.running.children import Child, stop_all
from console.running.signals import SignalPipe
from console.running.welcome import welcome
from guildqueue.services.guild_root import ensure_roots

_GRACE = "QUEUE_STOP_GRACE_SECONDS"
_STOP_GRACE_S = 2.0
_STOP_PATIENCE_S = 5.0  # after which a child is killed, on top of the worker's grace
_READY_PATIENCE_S = 60.0


class PortTaken(Exception):
    """Another program listens where the console should."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"Port {port} on 127.0.0.1 is taken: stop what listens there, "
            f"or choose another one, like `make run PORT={port % 65535 + 1}`."
        )


def run(above: MakeAbove) -> int:
    """Blocks until a signal says stop; 0 then, and no process of ours is left."""
    django.setup()
    refuse_taken_port(settings.PORT)
    prepare()
    pipe = SignalPipe()
    children = _children()
    try:
        _tend(children, pipe, above)
    finally:
        _say("Stopping.")
        stop_all(children, patience_s=_STOP_PATIENCE_S + _grace_s())
        connections.close_all()
    return 0


def refuse_taken_port(port: int) -> None:
    """Raises PortTaken; before anything is started, so that nothing has to be undone."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise PortTaken(port) from error


def prepare() -> None:
    """A current schema, collected static files, demo data in an empty database, guilds' folders."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    if "demo" in get_commands():
        call_command("demo")
    # Guilds that an older release made, or another host, have none here.
    ensure_roots()
    # The embedded server stays: this process is one of its users until it ends.
    connections.close_all()


def _children() -> list[Child]:
    endpoint = f"tcp:port={settings.PORT}:interface=127.0.0.1:backlog=4096"
    daphne = ["-m", "daphne", "-v", "0", "-e", endpoint, "console.asgi:application"]
    serving = os.environ | {"DJANGO_SETTINGS_MODULE": "console.serving"}
    children = [Child("console", [sys.executable, *daphne], serving)]
    if settings.WORKERS > 0:
        worker = ["manage.py", "worker", "--concurrency", str(settings.WORKERS)]
        # Whoever waits at a terminal after Ctrl+C wants it to end; a lost job is handed back.
        grace = os.environ | {_GRACE: str(_grace_s())}
        children.append(Child("worker", [sys.executable, *worker], grace))
    return children


def _grace_s() -> float:
    """Seconds that the worker gives a running job when it is told to stop."""
    is_chosen = bool(os.environ.get(_GRACE))
    return float(settings.QUEUE_STOP_GRACE_SECONDS) if is_chosen else _STOP_GRACE_S


def _tend(children: list[Child], pipe: SignalPipe, above: MakeAbove) -> None:
    announce_by = time.monotonic() + _READY_PATIENCE_S
    announced = False
    while True:
        now = time.monotonic()
        for child in children:
            if sentence := child.tend(now):
                _say(sentence)
        if not announced and _answers(settings.PORT):
            announced = True
            _say(welcome(_url(), settings.DATA_DIR / "demo.json"))
        elif not announced and now > announce_by:
            announced = True
            _say(f"The console does not answer at {_url()}healthz yet; its log is above.")
        if pipe.wait(0.5 if announced else 0.1) or above.was_interrupted():
            return


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _url() -> str:
    return f"http://127.0.0.1:{settings.PORT}/"


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a person at a terminal reads this
