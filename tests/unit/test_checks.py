"""System checks: each fault is found by its id, with a way out; a sane installation has none."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from django.db import connections

from console import checks


def with_database(monkeypatch: pytest.MonkeyPatch, **database: Any) -> None:
    """Only for our checks: Django's own idea of its databases is left alone."""
    fake = types.SimpleNamespace(DATABASES={"default": database})
    monkeypatch.setattr(checks, "settings", fake)


def ids(messages: list[CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages)
    return [str(message.id) for message in messages]


def test_this_installation_has_no_fault_of_ours() -> None:
    assert [message for message in run_checks() if str(message.id).startswith("console.")] == []


@pytest.mark.parametrize("age", [1, 600, None])
def test_kept_connections_are_found(monkeypatch: pytest.MonkeyPatch, age: int | None) -> None:
    with_database(monkeypatch, CONN_MAX_AGE=age)

    assert ids(checks.connections_are_not_kept()) == ["console.E001"]


@pytest.mark.parametrize("key", ["short", "django-insecure-" + "x" * 60])
def test_a_weak_secret_is_found_in_production_alone(settings: Any, key: str) -> None:
    settings.SECRET_KEY, settings.DEBUG = key, False
    assert ids(checks.secret_is_secret()) == ["console.E002"]

    settings.DEBUG = True
    assert checks.secret_is_secret() == []


@pytest.mark.parametrize(("version", "found"), [((14, 9), ["console.E003"]), ((15, 0), [])])
def test_a_postgresql_that_is_too_old_is_found(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], found: list[str]
) -> None:
    monkeypatch.setattr(connections["default"], "get_database_version", lambda: version)

    assert ids(checks.database_is_new_enough(databases=["default"])) == found


def test_a_console_without_a_pool_is_found_only_where_it_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_database(monkeypatch, OPTIONS={})
    monkeypatch.delitem(sys.modules, "console.asgi", raising=False)
    assert checks.console_has_a_pool() == []

    monkeypatch.setitem(sys.modules, "console.asgi", types.ModuleType("console.asgi"))
    assert ids(checks.console_has_a_pool()) == ["console.E004"]

    with_database(monkeypatch, OPTIONS={"pool": {"max_size": 1}})
    assert checks.console_has_a_pool() == []


def test_a_media_folder_that_cannot_be_made_is_found(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path / "not" / "yet")
    assert checks.media_can_be_written() == []

    (tmp_path / "file").write_text("")
    settings.MEDIA_ROOT = str(tmp_path / "file" / "media")
    assert ids(checks.media_can_be_written()) == ["console.E005"]


@pytest.mark.parametrize("target", ["recordings.nowhere.run", "nowhere.at.all.run", "run", ".x.y"])
def test_a_handler_that_is_not_there_is_found(settings: Any, target: str) -> None:
    settings.QUEUE_HANDLERS = {"transcribe": target}

    assert ids(checks.handlers_exist()) == ["console.E006"]
