"""Requests share a few connections, whatever the clients do."""

import socket
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.db.embedded_users import wait_until
from tests.web.site import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


def n_connections(site: Site) -> int:
    with psycopg.connect(site.info.url()) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'guildqueue%'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def abort(site: Site, path: str, *, after_s: float) -> None:
    """Ask, and hang up without having read the answer."""
    with socket.create_connection(("127.0.0.1", site.port)) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(after_s)


def test_requests_share_the_pools_connections(site: Site) -> None:
    backends = {site.get("/backend")[2] for _ in range(100)}

    assert len(backends) <= site.pool_max
    assert n_connections(site) <= site.pool_max


def test_a_connection_that_the_server_ended_costs_no_request(site: Site) -> None:
    victim = site.get("/backend")[2]
    with psycopg.connect(site.info.url()) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", [int(victim)])

    assert [site.status("/backend") for _ in range(5)] == [200] * 5


@pytest.mark.alone
def test_clients_that_hang_up_leave_no_connection_behind(site: Site) -> None:
    threads = [
        threading.Thread(target=abort, args=(site, "/backend"), kwargs={"after_s": 0.02})
        for _ in range(200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wait_until(lambda: site.status("/backend") == 200)
    started = time.monotonic()
    assert site.status("/backend") == 200
    assert time.monotonic() - started < 1
    assert n_connections(site) <= site.pool_max


@pytest.mark.alone
def test_a_slow_view_does_not_hold_up_the_others(site: Site) -> None:
    slow = threading.Thread(target=abort, args=(site, "/slow?s=3"), kwargs={"after_s": 3})
    slow.start()
    site.wait_in_database()

    durations = []
    for _ in range(20):
        started = time.monotonic()
        assert site.status("/backend") == 200
        durations.append(time.monotonic() - started)
    slow.join()

    assert sorted(durations)[-2] < 0.3


def test_more_requests_than_connections_wait_their_turn_or_are_told(site: Site) -> None:
    clients = [
        threading.Thread(target=abort, args=(site, "/slow?s=6"), kwargs={"after_s": 6})
        for _ in range(site.pool_max)
    ]
    for client in clients:
        client.start()
        site.wait_in_database()

    started = time.monotonic()  # well before the first of them lets go
    status, headers, _ = site.get("/backend")
    took_s = time.monotonic() - started
    for client in clients:
        client.join()

    assert (status, headers["Retry-After"]) == (503, "5")
    assert took_s < 5
