"""A database that goes away: 503 while it is gone, and back by itself with it."""

import json
import threading
from collections.abc import Iterator

import pytest

from tests.db.embedded_users import wait_until
from tests.web.site import Site


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
