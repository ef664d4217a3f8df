"""How fast a move reaches thousands of open pages, what a page costs, and what a stalled one keeps.

The pages are in a second process on the same cores. Beside each server stands a bare uvloop loop
that writes the same bytes to the same pages. BENCH_PAGES and BENCH_STALL_S choose the size.
"""

import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client

from benchmarks.fill import fill_guild, run_sql
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.membership import add_administrator
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot

PAGES = [int(number) for number in os.environ.get("BENCH_PAGES", "1000,5000").split(",")]
STALL_S = float(os.environ.get("BENCH_STALL_S", "60"))
N_STALLED = 50
ROUNDS = 5
SMALL, LARGE = GuildId(3_001), GuildId(3_002)  # 20 KB and 200 KB of snapshot
ADA = Caller(principal=Principal(PrincipalKind.USER, "bench"))


def run() -> None:
    """Fan-out, memory and reconnect for both servers and the bare loop; then stalled readers."""
    raise_open_files()
    small = fill_guild(SMALL, n_sessions=55, n_jobs=2)
    fill_guild(LARGE, n_sessions=200, n_jobs=2)
    longer = "UPDATE guildqueue_session SET title = rpad(title, 600, '.') WHERE guild_id = %s"
    run_sql(longer, [LARGE])
    get_user_model().objects.create_user("bench")
    cookie = signed_in()
    n_bytes = frame_bytes(cookie)
    size = f"frames of {n_bytes / 1024:.0f} KiB"
    print(f"\nLive pages, {size}; milliseconds to the last page: median (all)")
    for n_pages in PAGES:
        bare = fan_out_bare(n_pages, n_bytes)
        for kind in ("daphne", "uvicorn"):
            fan_out(kind, n_pages, cookie, small, bare)
    for kind in ("daphne", "uvicorn"):
        stall(kind, cookie)


def fan_out_bare(n_pages: int, n_bytes: int) -> float:
    """The bare loop's median."""
    port = free_port()
    words = ["-m", "benchmarks.live_bare", str(port), str(n_bytes)]
    with child(words) as bare, pages(port, "/", "none") as client:
        bare.stdout.readline()  # type: ignore[union-attr]
        client("open", n_pages, 2000)
        taken = [broadcast(client, lambda: say(bare)) for _ in range(ROUNDS)]
    print(f"{n_pages:5} bare uvloop: {shown(taken)}")
    return statistics.median(taken)


def fan_out(kind: str, n_pages: int, cookie: str, sessions: list[int], bare: float) -> None:
    with console(kind) as (port, pid), pages(port, path_of(SMALL), cookie) as client:
        client("open", 20, 100)
        before = pss_kib(pid)
        client("open", n_pages - 20, 1000)
        time.sleep(2)
        a_page = (pss_kib(pid) - before) / (n_pages - 20)
        taken = [broadcast(client, partial(move, sessions, i)) for i in range(ROUNDS)]
        client("close")
        time.sleep(2)
        again = client("open", 1000, 0)["took_s"] if n_pages >= 1000 else 0.0
    ratio = statistics.median(taken) / bare
    print(
        f"{n_pages:5} {kind}: {shown(taken)}; {ratio:.1f} x bare; {a_page:.1f} KiB a page;"
        f" {again:.2f} s until 1,000 that come at once have a snapshot"
    )


def stall(kind: str, cookie: str) -> None:
    """What fifty pages that stopped reading keep in the server, while it has much to send."""
    with console(kind) as (port, pid), pages(port, path_of(LARGE), cookie) as client:
        client("open", 1, 0)
        client("stall", N_STALLED)
        before, ends_at = pss_kib(pid), time.monotonic() + STALL_S
        sessions = [entry.session_id for entry in queue_snapshot(LARGE).sessions]
        n_moves = 0
        while time.monotonic() < ends_at:
            broadcast(client, partial(move, sessions, n_moves, LARGE))
            n_moves += 1
            time.sleep(0.8)
        kept = (pss_kib(pid) - before) / N_STALLED
        read_on = client("resume")
    print(
        f"{N_STALLED} stalled on {kind}, {n_moves} frames of 200 KB: {kept:.0f} KiB each;"
        f" reading on, they have {read_on['versions']} of {read_on['newest']}"
    )


def broadcast(client: Callable[..., Any], change: Callable[[], None]) -> float:
    """Milliseconds from the call that changes something to its frame on the last page."""
    client("expect")
    begun = time.monotonic()
    change()
    return float((client("wait")["last"] - begun) * 1000)


def move(sessions: list[Any], number: int, guild_id: GuildId = SMALL) -> None:
    moved = SessionId(sessions[-1 - number % len(sessions)])
    move_session(moved, guild_id=guild_id, place=Place.FIRST, caller=ADA)


def say(bare: Any) -> None:
    bare.stdin.write("go\n")
    bare.stdin.flush()


def path_of(guild_id: GuildId) -> str:
    return f"/api/guilds/{guild_id}/queue/stream"


def frame_bytes(cookie: str) -> int:
    client = Client(headers={"host": "localhost", "cookie": cookie})
    return len(client.get(f"/api/guilds/{SMALL}/queue").content)


def signed_in() -> str:
    for guild_id in (SMALL, LARGE):
        add_administrator("bench", guild_id=guild_id)
    client = Client()
    client.force_login(get_user_model().objects.get(username="bench"))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@contextmanager
def console(kind: str) -> Iterator[tuple[int, int]]:
    """A console on the benchmark's database: its port and its process."""
    port = free_port()
    application = "console.asgi:application"
    endpoint = f"tcp:port={port}:interface=127.0.0.1:backlog=4096"
    words = {
        "daphne": ["-m", "daphne", "-v", "0", "-e", endpoint, application],
        "uvicorn": ["-m", "uvicorn", "--port", str(port), "--log-level", "error", application],
    }[kind]
    environment = {"DJANGO_SETTINGS_MODULE": "console.serving"}
    with child(words, environment) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port, process.pid


@contextmanager
def pages(port: int, path: str, cookie: str) -> Iterator[Callable[..., Any]]:
    """The process of the pages, as a function that obeys."""
    with child(["-m", "benchmarks.live_client", str(port), path, cookie]) as process:

        def obey(*words: object) -> Any:
            print(*words, file=process.stdin, flush=True)
            line = process.stdout.readline()  # type: ignore[union-attr]
            if not line:
                raise SystemExit(f"the pages' process ended at {words}")
            return json.loads(line)

        yield obey


@contextmanager
def child(words: list[str], environment: dict[str, str] | None = None) -> Iterator[Any]:
    quiet = {"stderr": subprocess.DEVNULL} if environment else {}
    process = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | (environment or {}),
        **quiet,  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)
        process.stdin.close()
        process.stdout.close()


def pss_kib(pid: int) -> int:
    """Proportional set size: memory that others share counts in part."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def shown(taken: list[float]) -> str:
    return f"{statistics.median(taken):.0f} ({', '.join(f'{figure:.0f}' for figure in taken)})"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def raise_open_files() -> None:
    """As many open files as the system allows; the children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
