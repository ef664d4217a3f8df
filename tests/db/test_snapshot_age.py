"""Whoever holds back vacuum is found, by a check and as a figure, on a connection of its own."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.core.checks import Tags, run_checks
from django.db.utils import OperationalError
from django.test import Client

from guildqueue.services.upkeep import oldest_snapshot
from tests.builders import stored_guild
from tests.db.races import query

pytestmark = pytest.mark.usefixtures("committed_db")


@contextmanager
def holding(url: str, *statements: str) -> Iterator[int]:
    """A second connection, idle in a transaction that ran the statements; its process's id."""
    with psycopg.connect(url, application_name="a long report") as other:
        for statement in statements:
            other.execute(statement.encode())
        yield other.info.backend_pid
        other.rollback()


REPORT = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SELECT 1")


def warnings() -> list[Any]:
    found = run_checks(tags=[Tags.database], databases=["default"])
    return [message for message in found if message.id == "console.W007"]


def gauge() -> float:
    content = Client().get("/metrics").content.decode()
    found = re.search(r"^guildqueue_oldest_snapshot_seconds (\S+)$", content, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_nothing_is_found_where_nobody_holds_anything(database_url: str, settings: Any) -> None:
    settings.QUEUE_SNAPSHOT_WARN_SECONDS = 0.0
    # Idle in a transaction, but neither with a snapshot nor with anything written.
    with holding(database_url, "SELECT 1"):
        assert oldest_snapshot() is None
        assert warnings() == []
        assert gauge() == 0.0


@pytest.mark.parametrize(
    "statements", [REPORT, ("UPDATE guildqueue_guild SET name = 'other'",)], ids=["read", "write"]
)
def test_the_oldest_holder_is_named_once_it_is_too_old(
    database_url: str, settings: Any, statements: tuple[str, ...]
) -> None:
    stored_guild()
    with holding(database_url, *statements) as pid, holding(database_url, *REPORT):
        assert warnings() == []

        settings.QUEUE_SNAPSHOT_WARN_SECONDS = 0.0
        (warning,) = warnings()

        assert f"process {pid} of " in warning.msg
        assert "(a long report), idle in transaction" in warning.msg
        assert "idle_in_transaction_session_timeout" in warning.hint
        first, second = gauge(), gauge()
        assert 0.0 < first < second < 600.0

    assert warnings() == []
    assert gauge() == 0.0


def test_what_is_found_is_what_keeps_dead_rows_from_going(database_url: str) -> None:
    with holding(database_url, *REPORT) as pid:
        held = query("SELECT backend_xmin IS NOT NULL FROM pg_stat_activity WHERE pid = %s", [pid])
        found = oldest_snapshot()

    assert held == [(True,)]
    assert found is not None
    assert found.pid == pid


def test_without_the_database_option_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("asked")

    monkeypatch.setattr("console.checks.oldest_snapshot", refuse)

    run_checks(tags=[Tags.database])


def test_the_figures_come_without_it_when_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise OperationalError("connection to db.internal failed")

    monkeypatch.setattr("console.views.health.oldest_snapshot", refuse)

    assert math.isnan(gauge())
