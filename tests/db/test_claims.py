"""Claims: which job is next, and what may not keep a worker from it."""

import pytest
from django.conf import settings

from guildqueue.domain.filters import parse_filter
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.moves import Place
from guildqueue.domain.new_session import NewSession, NewTrack
from guildqueue.services.claim import claim_jobs
from guildqueue.services.create_session import create_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    MAGPIE,
    caller,
    expire_lease,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.races import together
from tests.db.stored import put_in_lane, row_versions, set_number, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def claim(n: int = 1, *, by: str = "worker") -> list[Lease]:
    return claim_jobs(by, count=n, ttl_s=60)


def claimed(n: int = 99) -> list[JobId]:
    return [lease.job.id for lease in claim(n)]


def defer(job_id: JobId, wait_s: float) -> None:
    write(
        "UPDATE guildqueue_job SET run_after = clock_timestamp() + make_interval(secs => %s)"
        " WHERE id = %s",
        wait_s,
        job_id,
    )


def test_a_hundred_jobs_of_one_transaction_are_claimed_as_listed(guild: GuildId) -> None:
    tracks = tuple(NewTrack(name=f"speaker {n}") for n in range(100))
    create_session(guild, session=NewSession(title="assembly", tracks=tracks))

    one_by_one = [claim()[0].job.name for _ in range(50)]
    at_once = [lease.job.name for lease in claim(50)]

    assert one_by_one + at_once == [track.name for track in tracks]


def test_a_claim_says_who_has_the_job_and_until_when(guild: GuildId) -> None:
    session = stored_session(guild)

    (lease,) = claim_jobs("account:w@host/1", ttl_s=90)

    (job, _) = session_jobs(session)
    assert lease.job == job
    assert (job.state, job.attempt, lease.token) == ("running", 1, 1)
    assert job.started_at is not None
    assert 89 < (lease.expires_at - job.started_at).total_seconds() < 91


def test_claims_of_many_workers_at_once_share_no_job_and_miss_none(guild: GuildId) -> None:
    sessions = [stored_session(guild, n_tracks=4) for _ in range(8)]
    wanted = {job_id for session in sessions for job_id in track_ids(session)}

    def work() -> list[JobId]:
        taken = []
        while leases := claim(3):
            taken += [lease.job.id for lease in leases]
        return taken

    shares = together(*[work] * 6)

    taken = [job_id for share in shares if isinstance(share, list) for job_id in share]
    assert len(taken) == len(wanted)
    assert set(taken) == wanted


def test_the_lane_comes_first_by_the_order_of_bumps(guild: GuildId) -> None:
    plain = stored_session(guild)
    bumped = [stored_session(guild) for _ in range(2)]
    (first,), (second,) = [track_ids(session) for session in bumped]
    set_number(bumped[1], -3)
    write("UPDATE guildqueue_job SET bump_seq = 2 WHERE id = %s", second)
    write("UPDATE guildqueue_job SET bump_seq = 1 WHERE id = %s", first)

    assert claimed() == [first, second, *track_ids(plain)]


def test_priority_decides_before_the_id_across_guilds(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", "global")
    high = stored_session(guild)
    low = stored_session(stored_guild(MAGPIE))
    set_number(high, 2)
    set_number(low, 1)

    assert claimed() == [*track_ids(low), *track_ids(high)]


def test_arms_are_merged_in_one_order(guild: GuildId) -> None:
    lost, due, plain, lane = [track_ids(stored_session(guild))[0] for _ in range(4)]
    running_jobs(SessionId(1))
    expire_lease(lost)
    defer(due, -1)
    put_in_lane([lane])

    assert claimed() == [lane, lost, due, plain]


def test_run_after_gates_and_never_orders(guild: GuildId) -> None:
    first, second, third = [track_ids(stored_session(guild))[0] for _ in range(3)]
    defer(first, -1)
    defer(second, 3600)
    defer(third, -3600)

    assert claimed() == [first, third]


def test_a_job_that_may_not_run_lets_all_behind_it_pass(guild: GuildId) -> None:
    held, deferred, blocked, newer, human, leased, free = [
        track_ids(stored_session(guild))[0] for _ in range(7)
    ]
    write("UPDATE guildqueue_job SET held = true WHERE id = %s", held)
    defer(deferred, 3600)
    write("UPDATE guildqueue_job SET unmet = 1 WHERE id = %s", blocked)
    write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", newer)
    write("UPDATE guildqueue_job SET assignee_kind = 'human' WHERE id = %s", human)
    write(
        "UPDATE guildqueue_job SET state = 'running', lease_by = 'other',"
        " lease_expires_at = clock_timestamp() + interval '1 hour' WHERE id = %s",
        leased,
    )
    put_in_lane([held, deferred, blocked, newer, human])

    assert claimed() == [free]


def test_work_of_a_newer_release_is_read_and_never_claimed(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=3)
    kind, state, _ = track_ids(session)
    write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", kind)
    write("UPDATE guildqueue_job SET state = 'paused' WHERE id = %s", state)

    assert claimed() == [track_ids(session)[-1]]
    snapshot = queue_snapshot(guild)
    assert (snapshot.counts.other, snapshot.counts.pending, snapshot.counts.running) == (1, 2, 1)
    (entry,) = snapshot.sessions
    assert (entry.jobs.other, entry.jobs.total) == (1, 4)
    with_newer = stored_session(guild)
    move_session(with_newer, guild_id=guild, place=Place.FIRST, caller=caller())
    assert queue_snapshot(guild).sessions[0].session_id == with_newer


def test_a_claim_for_no_kind_that_is_known_gets_nothing(guild: GuildId) -> None:
    stored_session(guild)
    versions = row_versions()

    assert claim_jobs("worker", filter=parse_filter({"kinds": ["translate"]}), ttl_s=60) == []

    assert row_versions() == versions


def test_an_empty_claim_writes_nothing(guild: GuildId) -> None:
    session = stored_session(guild)
    running_jobs(session)
    versions = row_versions()

    assert claim(9) == []

    assert row_versions() == versions


def test_claims_that_expire_at_once_bury_each_lost_job_once(guild: GuildId) -> None:
    sessions = [stored_session(guild, n_tracks=3) for _ in range(3)]
    write("UPDATE guildqueue_job SET max_attempts = 1")
    for lease in claim(99):
        expire_lease(lease.job.id)

    together(*[lambda: claim(5)] * 4)

    tracks = [job for session in sessions for job in session_jobs(session)[:3]]
    assert {job.state for job in tracks} == {"dead"}
    assert queue_snapshot(guild).counts.dead == 9
