"""The console on a server of its own, and people who look at it with scripts on."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, Request, expect

ANDROID = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Mobile Safari/537.36"
)
DRAGS = {"native": {}, "fallback": {"user_agent": ANDROID}}
REPORTS = """addEventListener('securitypolicyviolation', e =>
  console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`))"""


class Viewer:
    """Somebody signed in, with one page; ``complaints`` are what the browser reported."""

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.site = site
        self.context = context
        self.complaints: list[str] = []
        self.posts: list[str] = []
        context.set_default_timeout(10_000)
        context.add_init_script(REPORTS)
        self.page = self.new_page()

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._note(said.type, said.text))
        page.on("request", self._count)
        return page

    def open(self, path: str, *, is_live: bool = True) -> Page:
        self.page.goto(f"{self.site}{path}")
        if is_live:
            expect(self.sign).to_have_text("Live")
        return self.page

    @property
    def sign(self) -> Locator:
        return self.page.locator("#live-text")

    @property
    def status(self) -> Locator:
        return self.page.locator("#status")

    def _count(self, request: Request) -> None:
        if request.method == "POST":
            self.posts.append(request.url)

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            self.complaints.append(text)


@contextmanager
def viewing(browser: Browser, site: str, user: User, **options: Any) -> Iterator[Viewer]:
    """A browser in which the user is signed in; fails if it had anything to complain of."""
    context = browser.new_context(**options)
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])
    viewer = Viewer(context, site)
    try:
        yield viewer
    finally:
        context.close()
    assert viewer.complaints == []


def line(page: Page) -> list[str]:
    """The titles that wait, in their order."""
    return page.locator("#line .row .t").all_inner_texts()


def expect_line(page: Page, *titles: str) -> None:
    expect(page.locator("#line .row .t")).to_have_text(list(titles))


def focused(page: Page) -> str:
    """The id of what has the focus."""
    return str(page.evaluate("() => document.activeElement.id"))


def drag(page: Page, moved: int, *, before: int = 0, after: int = 0, drop: bool = True) -> None:
    """Drag a session by its handle until it stands beside another, and let it go there."""
    lift(page, moved)
    over = page.locator(f"#s-{before or after}")
    beside = f"#s-{moved} + #s-{before}" if before else f"#s-{after} + #s-{moved}"
    give_up_at = time.monotonic() + 10
    while not page.locator(beside).count():
        assert time.monotonic() < give_up_at, f"never came to stand at {beside}"
        place = box(over)
        y = place["y"] + place["height"] * (0.2 if before else 0.8)
        # Rows that are moving out of the way take no notice, so the hand comes again.
        page.mouse.move(place["x"] + 40, y - 3 if before else y + 3, steps=4)
        page.mouse.move(place["x"] + 44, y, steps=2)
    if drop:
        page.mouse.up()


def lift(page: Page, moved: int) -> None:
    """Take a session by its handle, and move it enough to drag it."""
    # A row that still slides to its place is not to be taken.
    page.wait_for_function("id => !document.getElementById(id).animated", arg=f"s-{moved}")
    grip = box(page.locator(f"#grip-{moved}"))
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y + 8, steps=4)


def box(locator: Locator) -> FloatRect:
    found = locator.bounding_box()
    assert found is not None
    return found


def number_of(text: str) -> int:
    found = re.search(r"\d+", text)
    assert found is not None
    return int(found.group())
