"""Heartbeats of many jobs at once: each lease by its own token, and none for another's sake."""

import threading

import pytest
from django.db import connection, transaction

from guildqueue.domain.errors import JobNotFound, LeaseCancelled, StaleLease
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Beat, Job, Lease
from guildqueue.services.cancel import cancel_session
from guildqueue.services.heartbeat import extend_leases
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def leases(committed_db: None) -> list[Lease]:
    session_id = builders.stored_session(builders.stored_guild(), n_tracks=4)
    return builders.running_jobs(session_id, ttl_s=60)


def beat(*leases: Lease, progress: float | None = None) -> dict[JobId, Exception]:
    beats = [Beat(lease.job.id, lease.token, progress) for lease in leases]
    return dict(extend_leases(builders.WORKER, beats, ttl_s=600))


def seconds_left(lease: Lease) -> float:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM lease_expires_at - clock_timestamp())"
            " FROM guildqueue_job WHERE id = %s",
            [lease.job.id],
        )
        return float(cursor.fetchone()[0])


def now(lease: Lease) -> Job:
    return builders.stored_job(lease.job.id, session_id=lease.job.session_id)


def test_all_are_extended_each_with_its_progress(leases: list[Lease]) -> None:
    beats = [Beat(leases[0].job.id, leases[0].token, 7.0), Beat(leases[1].job.id, leases[1].token)]

    assert extend_leases(builders.WORKER, beats, ttl_s=600) == {}

    assert [seconds_left(lease) > 500 for lease in leases] == [True, True, False, False]
    assert [now(lease).progress for lease in leases] == [1.0, 0.0, 0.0, 0.0]


def test_what_is_gone_is_told_by_its_reason_and_the_rest_is_extended(leases: list[Lease]) -> None:
    stale = Beat(leases[0].job.id, leases[0].token - 1)
    unknown = Beat(JobId(2**40), 1)
    beats = [stale, unknown, Beat(leases[1].job.id, leases[1].token)]

    lost = extend_leases(builders.WORKER, beats, ttl_s=600)

    assert {job_id: type(error) for job_id, error in lost.items()} == {
        leases[0].job.id: StaleLease,
        unknown.job_id: JobNotFound,
    }
    assert [seconds_left(lease) > 500 for lease in leases[:2]] == [False, True]


def test_a_cancelled_one_is_told_as_that(leases: list[Lease]) -> None:
    session_id = leases[0].job.session_id
    cancel_session(session_id, guild_id=leases[0].job.guild_id, caller=builders.caller())

    assert {type(error) for error in beat(*leases).values()} == {LeaseCancelled}


def test_nothing_is_extended_for_another_principal(leases: list[Lease]) -> None:
    beats = [Beat(lease.job.id, lease.token) for lease in leases]

    lost = extend_leases("account:tester@host/2", beats, ttl_s=600)

    assert set(lost) == {lease.job.id for lease in leases}


def test_one_that_somebody_holds_locked_is_waited_for_and_not_lost(leases: list[Lease]) -> None:
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT FROM guildqueue_job WHERE id = %s FOR UPDATE", [leases[1].job.id]
            )
            locked.set()
            done.wait(0.5)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(5)

    assert beat(*leases) == {}

    done.set()
    holder.join()
    assert all(seconds_left(lease) > 500 for lease in leases)
