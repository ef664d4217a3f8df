"""What wakes whoever waits for work, how often it is said, and from which connection."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.db import connection, transaction

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.services import wake
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.cancel import cancel_session
from guildqueue.services.drop_track import drop_track
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_guild, hold_session, release_guild, release_session
from guildqueue.services.move import move_session
from guildqueue.services.register_guild import register_guild
from guildqueue.services.release import release_job
from guildqueue.services.requeue import requeue_session
from guildqueue.services.wake import FOLD_S, close_waker, wake_workers
from guildqueue.store.wakeups import Saying
from tests import builders
from tests.conftest import ServerLog
from tests.db.wake_words import SAYING, backends, elsewhere, end_backends, wake_ups
from tests.db.worker_process import PROJECT, until

pytestmark = pytest.mark.usefixtures("committed_db")
ADA = builders.caller("ada")


class Stored(NamedTuple):
    guild_id: GuildId
    session_id: SessionId


Step = Callable[[Stored], object]


def one_session() -> Stored:
    guild_id = builders.stored_guild()
    return Stored(guild_id, builders.stored_session(guild_id, n_tracks=2))


def enqueue(of: Stored, *, external_id: str | None = None) -> object:
    job = NewJob(session_id=of.session_id, kind="transcribe", external_id=external_id)
    return enqueue_jobs(of.guild_id, jobs=[job])


def end_dead(of: Stored) -> None:
    first, second = builders.running_jobs(of.session_id)
    builders.bury(first)
    builders.complete(second)


def give_back(of: Stored) -> None:
    (lease,) = builders.running_jobs(of.session_id, n=1)
    close_waker()
    release_job(lease.job.id, token=lease.token, principal=builders.WORKER)


def nothing(of: Stored) -> None:
    """No step before."""


WAKING: dict[str, tuple[Step, Step]] = {
    "a job": (nothing, enqueue),
    "a meeting": (nothing, lambda of: builders.stored_session(of.guild_id)),
    "a late track": (
        nothing,
        lambda of: add_tracks(of.session_id, guild_id=of.guild_id, tracks=(), recording=False),
    ),
    "a release": (
        lambda of: hold_session(of.session_id, guild_id=of.guild_id, reason="", caller=ADA),
        lambda of: release_session(of.session_id, guild_id=of.guild_id, caller=ADA),
    ),
    "a release of the guild": (
        lambda of: hold_guild(of.guild_id, reason="", caller=ADA),
        lambda of: release_guild(of.guild_id, caller=ADA),
    ),
    "a requeue": (
        lambda of: cancel_session(of.session_id, guild_id=of.guild_id, caller=ADA),
        lambda of: requeue_session(of.session_id, guild_id=of.guild_id, caller=ADA),
    ),
    "a dropped track": (
        end_dead,
        lambda of: drop_track(
            builders.track_ids(of.session_id)[0], guild_id=of.guild_id, caller=ADA
        ),
    ),
    "a cap": (nothing, lambda of: register_guild(of.guild_id, running_cap=3)),
    "a cap taken away": (nothing, lambda of: register_guild(of.guild_id, lifts_cap=True)),
}
SILENT: dict[str, tuple[Step, Step]] = {
    "a job that is there": (
        lambda of: enqueue(of, external_id="once"),
        lambda of: enqueue(of, external_id="once"),
    ),
    "a move": (
        nothing,
        lambda of: move_session(of.session_id, guild_id=of.guild_id, place=Place.FIRST, caller=ADA),
    ),
    "a hold": (
        nothing,
        lambda of: hold_session(of.session_id, guild_id=of.guild_id, reason="", caller=ADA),
    ),
    "a name": (nothing, lambda of: register_guild(of.guild_id, name="Starling")),
}


@pytest.mark.parametrize("name", WAKING)
def test_what_makes_work_claimable_is_said_once(name: str, database_url: str) -> None:
    stored = one_session()
    before, step = WAKING[name]
    before(stored)

    with wake_ups(database_url) as said:
        said()
        step(stored)

        assert said() == 1


@pytest.mark.parametrize("name", SILENT)
def test_what_makes_nothing_claimable_is_not_said(name: str, database_url: str) -> None:
    stored = one_session()
    before, step = SILENT[name]
    before(stored)

    with wake_ups(database_url) as said:
        said()
        step(stored)

        assert said() == 0


def test_a_worker_says_only_what_others_may_do_now(database_url: str) -> None:
    _, session_id = one_session()

    with wake_ups(database_url) as said:
        first, second = builders.running_jobs(session_id)
        said()
        extend_lease(first.job.id, token=first.token, principal=builders.WORKER, ttl_s=60)
        assert said() == 0
        builders.complete(first)  # its document waits for one track less
        assert said() == 1
        release_job(second.job.id, token=second.token, principal=builders.WORKER)
        assert said() == 1
        (second,) = builders.running_jobs(session_id)
        builders.complete(second)
        (document,) = builders.running_jobs(session_id)
        said()
        builders.complete(document)  # nothing waits for a document
        assert said() == 0


def test_an_enqueue_that_is_rolled_back_wakes_nobody(database_url: str) -> None:
    stored = one_session()

    with wake_ups(database_url) as said:
        said()
        with transaction.atomic():
            enqueue(stored)
            transaction.set_rollback(True)
        assert said() == 0

        with contextlib.suppress(ZeroDivisionError), transaction.atomic():
            enqueue(stored)
            raise ZeroDivisionError
        assert said() == 0


def test_nothing_is_said_before_the_work_can_be_seen(database_url: str) -> None:
    stored = one_session()

    with wake_ups(database_url) as said:
        said()
        with transaction.atomic():
            enqueue(stored)
            assert said() == 0
        assert said() == 1


@pytest.mark.alone
def test_what_comes_within_a_tenth_of_a_second_is_said_twice_at_most(database_url: str) -> None:
    with wake_ups(database_url) as said:
        wake_workers()
        until(lambda: backends(database_url, SAYING) != [])
        time.sleep(2 * FOLD_S)
        end_at, n_asked = time.monotonic() + FOLD_S / 2, 0
        while time.monotonic() < end_at:
            wake_workers()
            n_asked += 1
        time.sleep(3 * FOLD_S)

        assert n_asked > 200
        assert said() == 1 + 2


@pytest.mark.alone
def test_two_hundred_enqueues_are_said_ten_times_a_second_at_most(database_url: str) -> None:
    stored = one_session()

    with wake_ups(database_url) as said:
        said()
        began = time.monotonic()
        for _ in range(200):
            enqueue(stored)
        took_s = time.monotonic() - began

        assert 1 <= said() <= 2 + took_s / FOLD_S


def test_the_connection_of_an_enqueue_notifies_nobody(server_log: ServerLog) -> None:
    stored = one_session()
    with connection.cursor() as cursor:
        cursor.execute("SET log_statement = 'all'")
    (lease,) = builders.running_jobs(stored.session_id, n=1)

    enqueue(stored)
    builders.complete(lease)
    close_waker()

    logged = server_log.text()
    assert "COPY guildqueue_job" in logged
    assert "guildqueue_complete_jobs_1" in logged
    assert "pg_notify" not in logged.lower()
    assert "NOTIFY guildqueue" not in logged


def test_a_connection_that_the_server_ended_is_made_anew(database_url: str) -> None:
    with wake_ups(database_url) as said:
        wake_workers()
        until(lambda: backends(database_url, SAYING) != [])

        assert len(end_backends(database_url, SAYING)) == 1
        wake_workers()  # lost with the connection, as it may be
        time.sleep(2 * FOLD_S)
        wake_workers()

        assert said() in {2, 3}


def test_a_database_that_is_away_disturbs_no_enqueue(
    monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    def refuse() -> None:
        raise OSError("away")

    stored = one_session()
    close_waker()
    monkeypatch.setattr(Saying, "open", refuse)
    enqueue(stored)
    close_waker()
    monkeypatch.undo()

    with wake_ups(database_url) as said:
        enqueue(stored)

        assert said() == 1
    assert len(builders.session_jobs(stored.session_id)) == 2 + 1 + 2


def test_a_quiet_process_keeps_no_connection(
    monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setattr(wake, "IDLE_S", 0.2)

    with wake_ups(database_url) as said:
        wake_workers()
        until(lambda: backends(database_url, SAYING) != [])
        until(lambda: backends(database_url, SAYING) == [])
        wake_workers()

        assert said() == 2


def test_with_wake_ups_off_nothing_is_said(database_url: str, settings: Any) -> None:
    stored = one_session()
    settings.QUEUE_WAKE_UPS = False

    with wake_ups(database_url) as said:
        said()
        enqueue(stored)

        assert said() == 0


def test_a_command_says_its_word_before_it_ends(database_url: str) -> None:
    _, session_id = one_session()

    with wake_ups(database_url) as said:
        said()
        elsewhere(database_url, "queue", "add", "transcribe", "--session", session_id)

        assert said() == 1
    assert backends(database_url, SAYING) == []


FORKING = """
import os, django
django.setup()
from guildqueue.services.wake import close_waker, wake_workers
from guildqueue.services import wake

wake_workers()
close_waker()
wake_workers()  # its thread and connection are there when the other process begins
while not wake._wakers[-1]._thread:
    pass
child = os.fork()
wake_workers()
if child == 0:
    close_waker()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
wake_workers()
"""


def test_a_forked_process_says_its_own(database_url: str) -> None:
    ours = {"DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "console.settings"}

    with wake_ups(database_url) as said:
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FORKING],
            cwd=PROJECT,
            env=os.environ | ours,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert (ended.returncode, ended.stderr) == (0, "")
        assert 3 <= said() <= 5
