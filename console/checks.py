"""System checks: what is wrong with an installation, each with an id and a way out."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import DEFAULT_DB_ALIAS, connections

from guildqueue.services.upkeep import oldest_snapshot
from guildqueue.worker import WORKING

OLDEST_POSTGRESQL = 15
SERVING = "serving"


@register(Tags.compatibility, WORKING)
def connections_are_not_kept(**_context: Any) -> list[CheckMessage]:
    return [
        Error(
            f"CONN_MAX_AGE of {alias!r} is {database['CONN_MAX_AGE']!r}.",
            hint="Remove it: under ASGI each request has a thread of its own, whose connection "
            "would stay open and unused. The pool (DATABASE_POOL_MAX) keeps them.",
            id="console.E001",
        )
        for alias, database in settings.DATABASES.items()
        if database.get("CONN_MAX_AGE", 0) != 0
    ]


@register(Tags.security, WORKING)
def secret_is_secret(**_context: Any) -> list[CheckMessage]:
    key = str(settings.SECRET_KEY)
    if settings.DEBUG or (len(key) >= 50 and not key.startswith("django-insecure-")):
        return []
    return [
        Error(
            "The secret key is short or Django's example.",
            hint="Unset GUILDQUEUE_SECRET_KEY, and one is made in the data directory.",
            id="console.E002",
        )
    ]


@register(Tags.database)
def database_is_new_enough(
    databases: Sequence[str] | None = None, **_context: Any
) -> list[CheckMessage]:
    versions = {alias: connections[alias].get_database_version() for alias in databases or ()}
    return [
        Error(
            f"The database {alias!r} is PostgreSQL {version[0]}.",
            hint=f"Upgrade the server to PostgreSQL {OLDEST_POSTGRESQL} or newer.",
            id="console.E003",
        )
        for alias, version in versions.items()
        if version[0] < OLDEST_POSTGRESQL
    ]


@register(Tags.database)
def nothing_holds_back_vacuum(
    databases: Sequence[str] | None = None, **_context: Any
) -> list[CheckMessage]:
    found = oldest_snapshot() if DEFAULT_DB_ALIAS in (databases or ()) else None
    if found is None or found.age_s < settings.QUEUE_SNAPSHOT_WARN_SECONDS:
        return []
    return [
        Warning(
            f"A transaction has held back vacuum for {found.age_s:.0f} seconds: {found}.",
            hint="Claims grow slower until it ends: commit it, stop who holds it "
            "(pg_terminate_backend, ROLLBACK PREPARED), or set "
            "idle_in_transaction_session_timeout.",
            id="console.W007",
        )
    ]


@register(SERVING)
def console_has_a_pool(**_context: Any) -> list[CheckMessage]:
    """Only in a process that serves HTTP: a command or a worker needs no pool."""
    if "console.asgi" not in sys.modules or settings.DATABASES["default"]["OPTIONS"].get("pool"):
        return []
    return [
        Error(
            "The console serves without a connection pool.",
            hint="Unset DJANGO_SETTINGS_MODULE, or set it to console.serving.",
            id="console.E004",
        )
    ]


@register(Tags.files, WORKING)
def media_can_be_written(**_context: Any) -> list[CheckMessage]:
    wanted = Path(settings.MEDIA_ROOT)
    existing = next(folder for folder in (wanted, *wanted.parents) if folder.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"MEDIA_ROOT {wanted} cannot be written: {existing} is not ours to write.",
            hint="Set GUILDQUEUE_MEDIA_ROOT to a folder that this account may write.",
            id="console.E005",
        )
    ]


@register(WORKING)
def handlers_exist(**_context: Any) -> list[CheckMessage]:
    # Found but not imported: a handler may pull in a whole speech model's library.
    return [
        Error(
            f"QUEUE_HANDLERS[{kind!r}] is {target!r}, and there is no such module.",
            hint="Name a function of an installed module, or remove the kind.",
            id="console.E006",
        )
        for kind, target in settings.QUEUE_HANDLERS.items()
        if not _is_module(str(target).rpartition(".")[0])
    ]


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
