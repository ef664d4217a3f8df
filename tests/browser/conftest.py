"""A real browser, the console served on a port of its own, and what the browser complained of."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import resources

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.live import Viewer, viewing
from tests.builders import PASSWORD
from tests.chromium import FLAGS, find_chromium
from tests.web import streams


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; the tests of a run share it, each with a context of its own."""
    # Playwright's own loop runs in the thread of the tests, which Django takes for async code.
    # Not before there is one: what other tests start would inherit it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    found = find_chromium()
    if found is None:
        pytest.fail("no Chromium: run `python -m tests.chromium` to get one")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(found), args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def site(committed_db: None) -> Iterator[str]:
    """The address at which the console answers while a test runs."""
    server = LiveServerThread("127.0.0.1", StaticFilesHandler)
    server.daemon = True
    server.start()
    server.is_ready.wait(timeout=20)
    if server.error:
        raise server.error
    yield f"http://127.0.0.1:{server.port}"
    server.terminate()
    server.join(timeout=20)


class Visit:
    """A page of a signed-in user; ``complaints`` are what its console and policy reported."""

    def __init__(self, context: BrowserContext, site: str) -> None:
        self.site = site
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self._note(said.type, said.text))

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.site}{path}")
        return self.page

    def sign_in(self, username: str) -> Page:
        self.open("/accounts/login/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/guilds/")
        return self.page

    def _note(self, kind: str, text: str) -> None:
        # A 404 or 409 that a test asks for is not a complaint about the page.
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            self.complaints.append(text)


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """A visit without JavaScript, as every page must be complete without it."""
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(10_000)
    made = Visit(context, site)
    yield made
    context.close()
    assert made.complaints == []


def axe_source() -> str:
    """The accessibility checker, as text: it is put into a page past the page's own policy."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def daphne(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[streams.Server]:
    """The console as it runs: daphne, the streams, styles and scripts under hashed names."""
    folder = tmp_path_factory.mktemp("daphne")
    environment = streams.environment_of(folder, database_url)
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
    subprocess.run(collect, cwd=streams.PROJECT, env=os.environ | environment, check=True)
    with streams.serving("daphne", folder, database_url) as server:
        yield server


@pytest.fixture
def live_site(daphne: streams.Server, committed_db: None) -> str:
    """The address of that console, on tables that are empty."""
    return f"http://127.0.0.1:{daphne.port}"


@pytest.fixture
def viewer_of(browser: Browser, live_site: str) -> Iterator[Callable[..., Viewer]]:
    """Makes viewers; at the end none may have complained of anything."""
    with contextlib.ExitStack() as stack:
        yield lambda user, **options: stack.enter_context(
            viewing(browser, live_site, user, **options)
        )
