"""Claims beside other writers: never an empty answer, never past a head that nobody writes."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import pytest

from guildqueue.domain.errors import StaleLease
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.moves import Place
from guildqueue.domain.new_session import NewTrack
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.apply_rule import apply_rule
from guildqueue.services.cancel import cancel_job
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from guildqueue.store import jobs, locks
from tests.builders import (
    MAGPIE,
    WORKER,
    caller,
    complete,
    document_id,
    expire_lease,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_job,
    stored_session,
    track_ids,
)
from tests.conftest import ServerLog
from tests.db.races import HalfDone, begun, half_done, query, together

pytestmark = pytest.mark.usefixtures("committed_db")

ROUNDS = range(20)


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def claim(n: int = 1, *, by: str = WORKER) -> list[Lease]:
    return claim_jobs(by, count=n, ttl_s=60)


def moved_half_way(
    session_id: SessionId, place: Place, *, guild_id: GuildId, commit: bool
) -> AbstractContextManager[HalfDone]:
    """A move whose rows are written and whose transaction is still open."""
    return half_done(
        lambda: move_session(session_id, guild_id=guild_id, place=place, caller=caller()),
        commit=commit,
    )


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_claim_during_a_move_takes_the_head_that_the_move_does_not_write(
    guild: GuildId, commit: bool
) -> None:
    head, moved, _ = [stored_session(guild) for _ in range(3)]

    with moved_half_way(moved, Place.LAST, guild_id=guild, commit=commit):
        (lease,) = claim()

    assert lease.job.session_id == head


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_only_rows_that_the_move_writes_are_passed_over(guild: GuildId, commit: bool) -> None:
    a, b, c, d = [stored_session(guild, n_tracks=2) for _ in range(4)]

    with moved_half_way(a, Place.LAST, guild_id=guild, commit=commit):
        during = [lease.job.id for lease in claim(99)]

    assert during == [job for session in (b, c, d) for job in track_ids(session)]
    assert [lease.job.id for lease in claim(99)] == track_ids(a)


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_where_a_move_writes_all_that_is_claimable_the_claim_waits_for_it(
    guild: GuildId, commit: bool
) -> None:
    waiting, running = stored_session(guild), stored_session(guild)
    running_jobs(running)

    with (
        moved_half_way(running, Place.FIRST, guild_id=guild, commit=commit) as moving,
        begun(claim) as claiming,
    ):
        claiming.wait_until_blocked()
        moving.end()

        (lease,) = claiming.result()

    assert lease.job.session_id == waiting


def test_a_claim_waits_for_the_changes_of_several_guilds(guild: GuildId) -> None:
    held, other = stored_session(guild), stored_session(stored_guild(MAGPIE))

    with (
        half_done(
            lambda: hold_session(held, guild_id=guild, reason="", caller=caller()), commit=True
        ) as holding,
        half_done(
            lambda: hold_session(other, guild_id=MAGPIE, reason="", caller=caller()), commit=False
        ) as giving_up,
        begun(claim) as claiming,
    ):
        claiming.wait_until_blocked()
        holding.end()
        claiming.wait_until_blocked()
        giving_up.end()

        (lease,) = claiming.result()

    assert lease.job.session_id == other


def test_a_claim_that_waited_in_vain_is_empty(guild: GuildId) -> None:
    session = stored_session(guild)

    with (
        half_done(
            lambda: hold_session(session, guild_id=guild, reason="", caller=caller()), commit=True
        ) as holding,
        begun(claim) as claiming,
    ):
        claiming.wait_until_blocked()
        holding.end()

        assert claiming.result() == []


def test_a_claim_during_a_rule_takes_what_the_rule_leaves(guild: GuildId) -> None:
    few, many = [stored_session(guild, participants=n) for n in (1, 2)]

    with (
        half_done(
            lambda: apply_rule(guild, rule="many-participants-first", caller=caller()), commit=True
        ) as applying,
        begun(lambda: [claim()[0].job.session_id for _ in range(2)]) as claiming,
    ):
        claiming.wait_until_blocked()
        applying.end()

        assert claiming.result() == [many, few]


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_dependency_on_the_head_does_not_hide_the_head(guild: GuildId, commit: bool) -> None:
    head, other = stored_session(guild), stored_session(guild)
    (track,) = track_ids(head)

    def insert() -> None:
        locks.lock_needs(guild)
        jobs.insert_needs(guild, document_id(other), [track])
        query("SET CONSTRAINTS ALL IMMEDIATE")

    with half_done(insert, commit=commit):
        (lease,) = claim()

    assert lease.job.id == track
    assert stored_job(document_id(other), session_id=other).unmet == 1 + commit


def test_a_move_and_a_dependency_at_once_leave_the_head(guild: GuildId) -> None:
    head, moved, other = [stored_session(guild) for _ in range(3)]
    (track,) = track_ids(head)

    def insert() -> None:
        jobs.insert_needs(guild, document_id(other), [track])
        query("SET CONSTRAINTS ALL IMMEDIATE")

    with (
        moved_half_way(moved, Place.LAST, guild_id=guild, commit=False),
        half_done(insert, commit=True),
    ):
        (lease,) = claim()

    assert lease.job.id == track


def test_changes_of_other_sessions_do_not_hide_the_head(guild: GuildId) -> None:
    head, held, late, running, cancelled = [stored_session(guild) for _ in range(5)]
    foreign = stored_session(stored_guild(MAGPIE))
    lease_of_running = running_jobs(running)[0]
    of_guild = JobFilter(guilds=frozenset({guild}))
    changes: list[Callable[[], object]] = [
        lambda: hold_session(held, guild_id=guild, reason="", caller=caller()),
        lambda: add_tracks(late, guild_id=guild, tracks=[NewTrack(name="late")]),
        lambda: cancel_job(track_ids(cancelled)[0], guild_id=guild, caller=caller()),
        lambda: move_session(foreign, guild_id=MAGPIE, place=Place.LAST, caller=caller()),
        lambda: complete(lease_of_running),
    ]

    for change in changes:
        with half_done(change, commit=False):
            (lease,) = claim_jobs("probe", filter=of_guild, ttl_s=60)
        assert lease.job.session_id == head
        expire_lease(lease.job.id)


def test_claims_half_done_are_passed_over_and_come_back_on_rollback(guild: GuildId) -> None:
    first, second = stored_session(guild), stored_session(guild)

    with half_done(claim, commit=False):
        (behind,) = claim()

    assert behind.job.session_id == second
    assert claim()[0].job.session_id == first


def test_a_claim_in_a_crowd_of_moves_is_never_empty(guild: GuildId, server_log: ServerLog) -> None:
    sessions = [stored_session(guild, n_tracks=20) for _ in range(6)]
    anchor = stored_session(guild, n_tracks=90)
    chance = random.Random(5)
    moved = [chance.choice(sessions) for _ in range(60)]

    def move() -> int:
        for session in moved:
            place = chance.choice([Place.FIRST, Place.LAST])
            move_session(session, guild_id=guild, place=place, caller=caller())
        return 0

    def work() -> int:
        return sum(not claim() for _ in range(60))

    empty = together(move, work, work)

    assert empty == [0, 0, 0]
    assert len(track_ids(anchor)) == 90
    assert not server_log.has_deadlock()


def test_two_completions_under_one_token_end_the_job_once(guild: GuildId) -> None:
    session = stored_session(guild)
    (lease,) = running_jobs(session)

    answers = together(*[lambda: complete(lease)] * 4)

    assert [isinstance(answer, StaleLease) for answer in answers].count(True) == 3
    assert stored_job(document_id(session), session_id=session).unmet == 0


def test_a_heartbeat_beside_a_takeover_leaves_one_holder(guild: GuildId) -> None:
    stored_session(guild)
    for _ in ROUNDS:
        (lease,) = claim(by="first")
        expire_lease(lease.job.id)

        beat, taken = together(
            partial(extend_lease, lease.job.id, token=lease.token, principal="first", ttl_s=60),
            lambda: claim(by="second"),
        )

        assert isinstance(beat, StaleLease) == bool(taken)
        query("UPDATE guildqueue_job SET attempt = 0")
        expire_lease(lease.job.id)


def test_workers_of_many_kinds_beside_each_other_end_every_job(
    guild: GuildId, server_log: ServerLog
) -> None:
    sessions = [stored_session(guild, n_tracks=3) for _ in range(8)]

    def work(by: str) -> Callable[[], int]:
        def run() -> int:
            n_done = 0
            while leases := claim(2, by=by):
                for lease in leases:
                    complete_job(lease.job.id, token=lease.token, principal=by, result={})
                    n_done += 1
            return n_done

        return run

    while sum(n for n in together(*[work(f"w{n}") for n in range(4)]) if isinstance(n, int)):
        pass

    ended = [job.state for session in sessions for job in session_jobs(session)]
    assert ended == ["done"] * 32
    assert not server_log.has_deadlock()
