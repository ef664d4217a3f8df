"""Fixtures of every test: a database of the run's own, the server's log, shared recordings."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases
from pytest_django.plugin import DjangoDbBlocker

from console.embedded import server
from guildqueue.services.wake import close_waker

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
_KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of example recordings beside the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no example recordings: {SHARED_DATA} is not there")
    return SHARED_DATA


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the run's own server before Django makes the test database on it."""
    if settings.DATABASES["default"]["ENGINE"] == "console.embedded":
        server.ensure_running(settings.DATA_DIR, durable=False)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    django_db_modify_db_settings: None,
) -> Iterator[None]:
    """The run's own database. pytest-django's makes one only for tests with its own fixtures."""
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False)
    yield
    with django_db_blocker.unblock():
        close_waker()
        teardown_databases(made, verbosity=0)


@pytest.fixture
def committed_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database for real commits, threads and several connections; emptied afterwards."""
    with django_db_blocker.unblock():
        yield
        close_waker()
        empty_tables()
        connections.close_all()


@pytest.fixture(scope="session")
def database_url(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> str:
    """The test database's address, for a process of its own."""
    with django_db_blocker.unblock():
        name = str(connection.settings_dict["NAME"])
        if connection.settings_dict["ENGINE"] == "console.embedded":
            return server.ensure_running(settings.DATA_DIR).url(name)
    base, _, rest = os.environ["DATABASE_URL"].rpartition("/")
    return f"{base}/{name}{rest[rest.find('?') :] if '?' in rest else ''}"


@dataclass(frozen=True)
class ServerLog:
    """The server's log since the test began."""

    path: Path
    start: int

    def text(self) -> str:
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read().decode("utf-8", "replace")

    def has_deadlock(self) -> bool:
        return "deadlock detected" in self.text()


@pytest.fixture
def server_log(django_db_setup: None) -> ServerLog:
    if settings.DATABASES["default"]["ENGINE"] != "console.embedded":
        pytest.skip("the log of a server that is not ours cannot be read")
    path = server.ensure_running(settings.DATA_DIR).log
    return ServerLog(path, path.stat().st_size)


def empty_tables() -> None:
    """Every table empty in one statement, also those whose triggers refuse it."""
    connection.close()  # a failed test may leave it in a broken transaction
    names = sorted(set(connection.introspection.table_names()) - _KEPT_TABLES)
    quoted = ", ".join(connection.ops.quote_name(name) for name in names)
    with connection.cursor() as cursor:
        # A connection that a test forgot would otherwise stop the run for good.
        cursor.execute("SET lock_timeout = '10s'")
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(f"TRUNCATE {quoted} RESTART IDENTITY CASCADE")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright keeps an event loop running in the main thread."""
    items.sort(key=lambda item: "browser" in item.path.parts)


def pytest_unconfigure(config: pytest.Config) -> None:
    connections.close_all()
