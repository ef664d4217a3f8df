"""Caps: never more running than a guild may have, and nothing behind a full guild stalls."""

from collections.abc import Callable
from threading import Event

import pytest
from django.conf import settings

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.snapshot import WaitsFor
from guildqueue.services.browse import session_detail
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.register_guild import register_guild
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.store import claims
from tests.builders import (
    MAGPIE,
    STARLING,
    WORKER,
    complete,
    expire_lease,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.conftest import ServerLog
from tests.db.races import begun, half_done, query, together
from tests.db.stored import put_in_lane, row_versions, set_number, write

pytestmark = pytest.mark.usefixtures("committed_db")
ORDERS = ["turns", "global"]


@pytest.fixture(params=ORDERS)
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test below holds in both orders."""
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", request.param)
    return str(request.param)


def claim(n: int = 99, *, by: str = WORKER) -> list[Lease]:
    return claim_jobs(by, count=n, ttl_s=60)


def claimed(n: int = 99) -> list[JobId]:
    return [lease.job.id for lease in claim(n)]


def n_running(guild_id: GuildId) -> int:
    ((n,),) = query(
        "SELECT count(*) FROM guildqueue_job WHERE guild_id = %s AND state = 'running'", [guild_id]
    )
    return int(n)


def test_a_guild_at_its_cap_is_passed_over(order: str) -> None:
    capped, free = stored_guild(STARLING, running_cap=2), stored_guild(MAGPIE)
    head, behind = stored_session(capped, n_tracks=5), stored_session(free, n_tracks=5)

    assert sorted(claimed()) == sorted([*track_ids(head)[:2], *track_ids(behind)])
    assert claim() == []


def test_a_job_that_ends_makes_room_for_one(order: str) -> None:
    guild = stored_guild(running_cap=2)
    tracks = track_ids(stored_session(guild, n_tracks=4))
    first, _ = claim()

    complete(first)

    assert claimed() == tracks[2:3]


def test_a_lost_lease_keeps_its_slot_and_needs_no_free_one(order: str) -> None:
    guild = stored_guild(running_cap=2)
    tracks = track_ids(stored_session(guild, n_tracks=4))
    claim()
    expire_lease(tracks[1])

    assert claimed() == [tracks[1]]
    assert n_running(guild) == 2


def test_a_lease_lost_for_good_makes_room_in_the_claim_that_meets_it(order: str) -> None:
    guild = stored_guild(running_cap=1)
    tracks = track_ids(stored_session(guild, n_tracks=2))
    claim()
    write("UPDATE guildqueue_job SET max_attempts = 1")
    expire_lease(tracks[0])

    assert claimed() == [tracks[1]]


def test_the_cap_holds_in_the_lane_too(order: str) -> None:
    capped, free = stored_guild(STARLING, running_cap=1), stored_guild(MAGPIE)
    lane = track_ids(stored_session(capped, n_tracks=3))
    other = track_ids(stored_session(free, n_tracks=2))
    put_in_lane([*lane, other[1]])

    assert claimed() == [lane[0], other[1], other[0]]


def test_a_lost_lease_in_the_lane_of_a_full_guild_is_first(order: str) -> None:
    capped, free = stored_guild(STARLING, running_cap=1), stored_guild(MAGPIE)
    lane = track_ids(stored_session(capped, n_tracks=2))
    other = track_ids(stored_session(free))
    put_in_lane(lane)
    claim(1)
    expire_lease(lane[0])

    assert claimed() == [lane[0], *other]


def test_the_deployments_cap_holds_where_a_guild_has_none(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "QUEUE_RUNNING_CAP", 1)
    own, default = stored_guild(STARLING, running_cap=3), stored_guild(MAGPIE)
    many, one = stored_session(own, n_tracks=5), stored_session(default, n_tracks=5)

    taken = claimed()

    assert sorted(taken) == sorted([*track_ids(many)[:3], *track_ids(one)[:1]])


def test_a_lowered_cap_ends_nothing_and_starts_nothing(order: str) -> None:
    guild = stored_guild(running_cap=3)
    stored_session(guild, n_tracks=5)
    first, second, third = claim()

    register_guild(guild, running_cap=1)
    complete(first)
    complete(second)

    assert claim() == []
    complete(third)
    assert len(claim()) == 1


def test_the_global_order_goes_on_behind_a_full_guild(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", "global")
    capped, free = stored_guild(STARLING, running_cap=2), stored_guild(MAGPIE)
    head, middle, last = (stored_session(g, n_tracks=2) for g in (capped, free, capped))
    for number, session in enumerate((head, middle, last)):
        set_number(session, number)

    assert claimed(1) + claimed() == [*track_ids(head), *track_ids(middle)]


def test_a_full_guild_says_cap(order: str) -> None:
    guild = stored_guild(running_cap=1)
    head, behind = stored_session(guild, n_tracks=2), stored_session(guild)
    claim()

    snapshot = queue_snapshot(guild)

    assert [entry.waits_for for entry in snapshot.sessions] == [WaitsFor.CAP, WaitsFor.CAP]
    reasons = [job.waits_for for job in session_detail(head).jobs]
    assert reasons == [None, WaitsFor.CAP, WaitsFor.DEPENDENCY]
    write("UPDATE guildqueue_job SET held = true WHERE session_id = %s", behind)
    assert session_detail(behind).entry.waits_for is WaitsFor.HOLD


def test_the_deployments_cap_is_said_too(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guild = stored_guild()
    session = stored_session(guild, n_tracks=2)
    claim(1)
    assert session_detail(session).entry.waits_for is None

    monkeypatch.setattr(settings, "QUEUE_RUNNING_CAP", 1)

    assert session_detail(session).entry.waits_for is WaitsFor.CAP
    assert queue_snapshot(guild).running_cap == 1


def test_a_claim_of_a_full_guild_writes_nothing(order: str) -> None:
    guild = stored_guild(running_cap=1)
    stored_session(guild, n_tracks=2)
    claim()
    versions = row_versions()

    assert claim() == []

    assert row_versions() == versions


def lock(guild_id: GuildId) -> Callable[[], object]:
    return lambda: claims.lock_slots(guild_id)


def test_a_guild_that_another_claim_counts_is_passed_over(order: str) -> None:
    busy, free = stored_guild(STARLING, running_cap=2), stored_guild(MAGPIE)
    head, other = stored_session(busy), stored_session(free)

    with half_done(lock(busy), commit=False):
        assert claimed() == track_ids(other)

    assert claimed() == track_ids(head)


def test_where_there_is_no_other_guild_the_claim_waits_for_the_slots(order: str) -> None:
    busy = stored_guild(running_cap=2)
    head = stored_session(busy)

    with half_done(lock(busy), commit=False) as counting, begun(claimed) as claiming:
        claiming.wait_until_blocked()
        counting.end()

        assert claiming.result() == track_ids(head)


def test_the_last_slot_goes_to_one_of_two_claims(order: str) -> None:
    guild = stored_guild(running_cap=1)
    first, _ = track_ids(stored_session(guild, n_tracks=2))

    with half_done(claim, commit=True) as claiming, begun(claimed) as waiting:
        waiting.wait_until_blocked()
        claiming.end()

        assert waiting.result() == []

    assert (n_running(guild), first) == (1, first)


def work_off(by: str) -> Callable[[], int]:
    """Claims, now one and now three at a time, and ends each job, until there is nothing."""

    def run() -> int:
        n_done, empty = 0, 0
        while empty < 20:
            leases = claim(1 + n_done % 3, by=by)
            empty = 0 if leases else empty + 1
            for lease in leases:
                complete_job(lease.job.id, token=lease.token, principal=by, result={})
                n_done += 1
        return n_done

    return run


def test_eight_threads_never_have_more_than_the_cap_running(
    order: str, server_log: ServerLog
) -> None:
    capped = [stored_guild(STARLING, running_cap=3), stored_guild(MAGPIE, running_cap=1)]
    sessions: list[SessionId] = [stored_session(capped[0], n_tracks=19) for _ in range(8)]
    sessions += [stored_session(capped[1], n_tracks=19) for _ in range(3)]
    put_in_lane(track_ids(sessions[3]) + track_ids(sessions[-1]))
    done = Event()

    def watch() -> int:
        most = [0, 0]
        while not done.is_set():
            most = [max(n, n_running(guild)) for n, guild in zip(most, capped, strict=True)]
        assert [0, 0] < most <= [3, 1]
        assert most[1] <= 1
        return 0

    def work(by: str) -> Callable[[], int]:
        def run() -> int:
            try:
                return work_off(by)()
            finally:
                done.set()

        return run

    counts = together(watch, *[work(f"w{n}") for n in range(8)])

    n_done = sum(n for n in counts if isinstance(n, int))
    left = work_off("last")()
    assert n_done + left == 11 * 20
    assert {job.job.state for s in sessions for job in session_detail(s).jobs} == {"done"}
    assert not server_log.has_deadlock()
