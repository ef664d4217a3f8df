"""A guild of 10,000 waiting meetings: its pages, and a move until another browser shows it."""

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Page, sync_playwright

from benchmarks.browser import NOTE_DROPS, NOTE_ORDER, database_url
from benchmarks.fill import fill_guild, milliseconds, spread
from guildqueue.domain.ids import GuildId
from guildqueue.services.membership import add_administrator
from guildqueue.services.read_order import current_order
from guildqueue.services.snapshot import queue_snapshot
from tests.browser.live import drag, viewing
from tests.chromium import FLAGS, find_chromium
from tests.web import streams

GUILD = GuildId(10_000)
N_SESSIONS, N_JOBS = 10_000, 4
ROUNDS = 11
# Playwright's own loop runs in this thread, which Django takes for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def run() -> None:
    """Server times of the pages and moves, then drops between two browsers."""
    ids = fill_guild(GUILD, n_sessions=N_SESSIONS, n_jobs=N_JOBS)
    user = get_user_model().objects.create_user("bench-large")
    add_administrator("bench-large", guild_id=GUILD)
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    print(f"\n{N_SESSIONS} sessions x {N_JOBS} waiting; milliseconds, median (range)")
    pages(client, ids)
    moves(client, ids)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        data = {"GUILDQUEUE_DATA_DIR": str(settings.DATA_DIR)}  # with what was collected
        with streams.serving("daphne", Path(folder), database_url(), **data) as server:
            site = f"http://127.0.0.1:{server.port}"
            with viewing(chromium, site, user) as one, viewing(chromium, site, user) as other:
                drops(one.open(f"/guilds/{GUILD}/"), other.open(f"/guilds/{GUILD}/"))
        chromium.close()


def pages(client: Client, ids: list[int]) -> None:
    """What is read of a long line."""
    paths = {
        "the queue page": f"/guilds/{GUILD}/",
        "a page of its middle": f"/guilds/{GUILD}/?after={ids[5_000]}",
        "a preview of a rule": f"/guilds/{GUILD}/rules/many-participants-first",
        "a meeting's page": f"/sessions/{ids[5_000]}/",
    }
    for what, path in paths.items():
        show(what, partial(get, client, path))


def moves(client: Client, ids: list[int]) -> None:
    """Moves by number: what they cost is the sessions that they pass, which are raised."""
    moved = f"/sessions/{ids[-1]}/move"
    for number in (5_000, 9_000, 200, 1):
        took = milliseconds(partial(post, client, moved, {"number": str(number)}))
        print(f"a move behind number {number}: {took:8.1f}")


def drops(one: Page, other: Page) -> None:
    """Two at the front change places: from letting go to its place in the other browser.

    Numbers only rise: a drop raises one session, or whatever stands behind as well.
    """
    one.evaluate(NOTE_DROPS)
    other.evaluate(NOTE_ORDER)
    waits: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(2 * ROUNDS):
        last = last_number()
        first, second = (entry.session_id for entry in queue_snapshot(GUILD).sessions[:2])
        drag(one, second, before=first)
        other.wait_for_function("id => orders.at(-1)?.[1] === id", arg=str(second))
        one.wait_for_function("() => document.querySelector('#status p')")
        took = other.evaluate("() => orders.at(-1)[0]") - one.evaluate("() => drops.at(-1)")
        waits[last_number() > last].append(took)
        one.locator("#status").evaluate("status => status.replaceChildren()")
    print(f"a drop that raises one, to its place in a second browser: {spread(waits[False])}")
    print(f"a drop that raises all behind it, the same: {spread(waits[True])}")


def last_number() -> int:
    """The priority of the last in line: it rises with a move that raises all."""
    return current_order(GUILD)[-1][1]


def show(what: str, work: Callable[[], object]) -> None:
    work()
    print(f"{what}: {spread([milliseconds(work) for _ in range(ROUNDS)])}")


def get(client: Client, path: str) -> None:
    _check(200, client.get(path).status_code)


def post(client: Client, path: str, sent: Mapping[str, str]) -> None:
    _check(303, client.post(path, sent).status_code)


def _check(status: int, answered: int) -> None:
    """Raises SystemExit for a figure that would be of something else."""
    if answered != status:
        raise SystemExit(f"answered {answered}, not {status}")
