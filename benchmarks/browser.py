"""What people in front of two browsers wait for: a drop that shows elsewhere, and a redraw."""

import os
import tempfile
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection
from playwright.sync_api import Page, sync_playwright

from benchmarks.fill import fill_guild, spread
from console.embedded import server as embedded
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.membership import add_administrator
from guildqueue.services.move import move_session
from tests.browser.live import drag, viewing
from tests.chromium import FLAGS, find_chromium
from tests.web import streams

SMALL, LARGE = GuildId(4_001), GuildId(4_002)
ADA = Caller(principal=Principal(PrincipalKind.USER, "bench"))
ROUNDS = 15
# Playwright's own loop runs in this thread, which Django takes for async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
NOTE_DROPS = """() => {
  window.drops = [];
  for (const name of ['drop', 'pointerup']) document.addEventListener(
    name, () => drops.push(performance.timeOrigin + performance.now()), true);
}"""
NOTE_ORDER = """() => {
  window.orders = [];
  new MutationObserver(() => {
    const ids = [...document.querySelectorAll('#line > .row')].map(row => row.dataset.session);
    if (ids.join() === window.last) return;
    window.last = ids.join();
    orders.push([performance.timeOrigin + performance.now(), ids[0]]);
  }).observe(document.querySelector('#queue'), {childList: true, subtree: true});
}"""
NOTE_REDRAWS = """() => {
  window.redraws = [];
  const swap = htmx.swap.bind(htmx);
  htmx.swap = async (ctx) => {
    const began = performance.now();
    await swap(ctx);
    document.body.getBoundingClientRect(); // with the styles and the layout that it asks for
    redraws.push(performance.now() - began);
  };
}"""


def run() -> None:
    """A drop from one browser to another; a redraw of 200 rows after a move across all of them."""
    small = fill_guild(SMALL, n_sessions=20, n_jobs=4)
    large = fill_guild(LARGE, n_sessions=200, n_jobs=4)
    user = get_user_model().objects.create_user("bench")
    for guild_id in (SMALL, LARGE):
        add_administrator("bench", guild_id=guild_id)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        data = {"GUILDQUEUE_DATA_DIR": str(settings.DATA_DIR)}  # with what was collected
        with streams.serving("daphne", Path(folder), database_url(), **data) as server:
            site = f"http://127.0.0.1:{server.port}"
            with viewing(chromium, site, user) as one, viewing(chromium, site, user) as other:
                drops(one.open(f"/guilds/{SMALL}/"), other.open(f"/guilds/{SMALL}/"), small)
                redraws(one.open(f"/guilds/{LARGE}/"), large)
        chromium.close()


def database_url() -> str:
    """The benchmark's database, for the server's process."""
    if "DATABASE_URL" in os.environ:
        return os.environ["DATABASE_URL"]
    return embedded.ensure_running(settings.DATA_DIR).url(str(connection.settings_dict["NAME"]))


def drops(one: Page, other: Page, ids: list[int]) -> None:
    """From letting a row go to its place in the other browser's list."""
    one.evaluate(NOTE_DROPS)
    other.evaluate(NOTE_ORDER)
    waits = []
    for number in range(ROUNDS):
        first, second = (ids[1], ids[0]) if number % 2 == 0 else (ids[0], ids[1])
        drag(one, first, before=second)
        other.wait_for_function("id => orders.at(-1)?.[1] === id", arg=str(first))
        one.wait_for_function("() => document.querySelector('#status p')")
        waits.append(other.evaluate("() => orders.at(-1)[0]") - one.evaluate("() => drops.at(-1)"))
        one.locator("#status").evaluate("status => status.replaceChildren()")
    print(f"\nA drop, to its place in a second browser, ms: {spread(waits)}")


def redraws(page: Page, ids: list[int]) -> None:
    """The last of 200 rows moves first and back, so that every row says another place."""
    page.evaluate(NOTE_REDRAWS)
    for number in range(ROUNDS):
        place = Place.FIRST if number % 2 == 0 else Place.LAST
        move_session(SessionId(ids[-1]), guild_id=LARGE, place=place, caller=ADA)
        page.wait_for_function("n => redraws.length > n", arg=number)
    times = page.evaluate("() => redraws")
    print(f"A redraw of 200 rows, main thread, ms: {spread(times)}")
