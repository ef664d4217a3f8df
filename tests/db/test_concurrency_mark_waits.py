"""What is claimable and merely locked is waited for; what time makes claimable is soon taken."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.new_job import NewJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.store import locks
from tests.builders import (
    expire_lease,
    make_due,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.mark_checks import LANE, check_marks, first_claimable, raise_line
from tests.db.races import begun, half_done, query
from tests.db.stored import set_number, write

pytestmark = pytest.mark.usefixtures("committed_db")

SOON_S = 1.0  # by which a worker is to find what time made claimable
Lock = Callable[[GuildId, JobId], object]


@pytest.fixture(params=[None, 3], ids=["no cap", "cap"])
def guild(request: pytest.FixtureRequest) -> GuildId:
    return stored_guild(running_cap=request.param)


def claim(n: int = 1) -> list[Lease]:
    return claim_jobs("w", count=n, ttl_s=60)


def lock_job(_guild: GuildId, job: JobId) -> None:
    query("SELECT id FROM guildqueue_job WHERE id = %s FOR UPDATE", [job])


def lock_guild(guild: GuildId) -> None:
    query("SELECT id FROM guildqueue_guild WHERE id = %s FOR UPDATE", [guild])


def move(guild: GuildId, job: JobId) -> None:
    """What every change of the order locks."""
    locks.lock_order(guild)
    write("UPDATE guildqueue_job SET priority = 7 WHERE id = %s", job)


def take() -> None:
    assert claim()


def waiting(guild: GuildId) -> JobId:
    return track_ids(stored_session(guild))[0]


def bumped(guild: GuildId) -> JobId:
    job = waiting(guild)
    write("UPDATE guildqueue_job SET bump_seq = 1 WHERE id = %s", job)
    return job


def due(guild: GuildId) -> JobId:
    job = waiting(guild)
    make_due(job)
    return job


def lost(guild: GuildId) -> JobId:
    (lease,) = running_jobs(stored_session(guild))
    expire_lease(lease.job.id)
    return lease.job.id


CLAIMABLE = [waiting, bumped, due, lost]


@pytest.mark.parametrize(("lock", "commit"), [(lock_job, False), (move, True)])
@pytest.mark.parametrize("claimable", CLAIMABLE)
def test_a_claim_waits_for_what_is_merely_locked_and_takes_it(
    guild: GuildId, claimable: Callable[[GuildId], JobId], lock: Lock, commit: bool
) -> None:
    job = claimable(guild)

    with half_done(lambda: lock(guild, job), commit=commit) as locking, begun(claim) as claiming:
        claiming.wait_until_blocked()
        locking.end()

        assert [lease.job.id for lease in claiming.result()] == [job]


@pytest.mark.parametrize("claimable", [waiting, bumped, due])
def test_a_claim_waits_while_another_has_the_slots(claimable: Callable[[GuildId], JobId]) -> None:
    guild = stored_guild(running_cap=3)
    job = claimable(guild)

    with half_done(lambda: lock_guild(guild), commit=True) as locking, begun(claim) as claiming:
        claiming.wait_until_blocked()
        locking.end()

        assert [lease.job.id for lease in claiming.result()] == [job]


@pytest.mark.parametrize("claimable", CLAIMABLE)
def test_a_claim_waits_for_one_that_rolls_back(
    guild: GuildId, claimable: Callable[[GuildId], JobId]
) -> None:
    job = claimable(guild)

    with half_done(take, commit=False) as taking, begun(claim) as claiming:
        claiming.wait_until_blocked()
        taking.end()

        assert [lease.job.id for lease in claiming.result()] == [job]
    check_marks()


def test_a_claim_does_not_wait_for_whoever_is_at_the_mark(guild: GuildId) -> None:
    job = waiting(guild)

    def raise_lines() -> None:
        raise_line(guild)
        raise_line(LANE)

    with half_done(raise_lines, commit=False):
        assert [lease.job.id for lease in claim()] == [job]


@pytest.fixture
def uncapped() -> GuildId:
    return stored_guild()


@pytest.fixture
def other_work(uncapped: GuildId, monkeypatch: pytest.MonkeyPatch) -> SessionId:
    """Plenty, in a process that looks for what is overdue as seldom as a deployed one."""
    monkeypatch.setattr(settings, "QUEUE_OVERDUE_SECONDS", 0.5)
    return enqueued(uncapped, 4000)


def enqueued(guild: GuildId, n: int, *, run_after: datetime | None = None) -> SessionId:
    session = stored_session(guild, n_tracks=0)
    new = NewJob(session_id=session, kind="transcribe", run_after=run_after)
    enqueue_jobs(guild, jobs=[new] * n)
    return session


def claim_until(wanted: SessionId, *, since: datetime) -> float:
    """How many seconds after the moment a job of the session was claimed, amid other work."""
    while True:
        (lease,) = claim()
        ((waited,),) = query("SELECT extract(epoch FROM clock_timestamp() - %s)", [since])
        if lease.job.session_id == wanted or waited > 5 * SOON_S:
            return float(waited)


def test_a_lost_lease_is_taken_within_a_second_amid_other_work(
    uncapped: GuildId, other_work: SessionId
) -> None:
    session = stored_session(uncapped)
    set_number(session, -1)
    (lease,) = claim_jobs("gone", count=1, ttl_s=0.3)
    assert lease.job.session_id == session

    assert 0 <= claim_until(session, since=lease.expires_at) < SOON_S


@pytest.mark.parametrize("n_jobs", [1, 5000])
def test_a_delay_that_ends_is_known_within_a_second_amid_other_work(
    uncapped: GuildId, other_work: SessionId, n_jobs: int
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    session = enqueued(uncapped, n_jobs, run_after=soon)
    # Each stands before the one that was written before it.
    write("UPDATE guildqueue_job SET priority = -id WHERE session_id = %s", session)

    assert 0 <= claim_until(session, since=soon) < SOON_S

    check_marks()
    first = first_claimable()
    assert [lease.job.id for lease in claim()] == first
