"""``manage.py worker``: what it refuses to start with, and what it does while idle."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from guildqueue.domain.job import JobState
from guildqueue.services.browse import guild_list
from guildqueue.services.fold_counters import STEPS_WORTH_FOLDING, fold_counters
from tests import builders
from tests.db.command import run

pytestmark = pytest.mark.usefixtures("committed_db")
LATEST = ("guildqueue", "0002_invariants")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--concurrency", "0"), 2),
        (("--concurrency", "65"), 2),
        (("--concurrency", "two"), 2),
        (("--batch", "0"), 2),
        (("--batch", "1001"), 2),
        (("--kinds", "transcribe,dance"), 2),
        (("-g", "0"), 2),
        (("-g", "5"), 3),
    ],
)
def test_a_worker_that_was_asked_for_the_impossible_does_not_start(
    words: tuple[str, ...], code: int
) -> None:
    ended = run("worker", "--once", *words)

    assert (ended.code, ended.out) == (code, "")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("setting", "value", "found"),
    [
        ("SECRET_KEY", "short", "console.E002"),
        ("MEDIA_ROOT", f"{__file__}/media", "console.E005"),
        ("QUEUE_HANDLERS", {"transcribe": "recordings.nowhere.run"}, "console.E006"),
    ],
)
def test_a_worker_of_an_installation_with_a_fault_does_not_start(
    settings: Any, setting: str, value: object, found: str
) -> None:
    setattr(settings, setting, value)

    ended = run("worker", "--once")

    assert (ended.code, ended.out) == (1, "")
    assert found in ended.err


@pytest.fixture
def a_migration_short(committed_db: None) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", LATEST)
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", LATEST
        )


def test_a_worker_refuses_a_schema_that_is_behind(a_migration_short: None) -> None:
    ended = run("worker")

    assert ended.code == 1
    assert ended.fault == (
        "the database lacks 1 migrations, from guildqueue.0002_invariants: "
        "run manage.py migrate first"
    )


def test_a_worker_works_with_a_schema_that_is_ahead() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('guildqueue', '9999_of_a_newer_release', now())"
        )

    try:
        assert run("worker", "--once").code == 0
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999_of_a_newer_release'")


def test_an_idle_worker_folds_the_counting_steps_and_the_counts_stay() -> None:
    guild_id = builders.stored_guild()
    user = builders.stored_user(guilds=[guild_id])
    session_id = builders.stored_session(guild_id, n_tracks=STEPS_WORTH_FOLDING)
    for lease in builders.running_jobs(session_id):
        builders.complete(lease)
    assert n_steps() == STEPS_WORTH_FOLDING

    run("worker", "--once", "--kinds", "transcribe")

    assert n_steps() == 1
    (summary,) = guild_list(builders.user_id(user))
    assert summary.counts.done == STEPS_WORTH_FOLDING


def test_a_few_steps_are_left_alone() -> None:
    session_id = builders.stored_session(builders.stored_guild())
    builders.complete(builders.running_jobs(session_id)[0])

    assert fold_counters() == 0
    assert n_steps() == 1
    assert builders.session_jobs(session_id)[0].state == JobState.DONE


def n_steps() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM guildqueue_guild_count")
        (number,) = cursor.fetchone()
    return int(number)
