"""Marks beside whoever makes a job in front of them claimable, in each order of events."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from django.db import transaction

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Completion
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_and_claim
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from guildqueue.services.overdue import settle_overdue
from guildqueue.store import claims
from tests.builders import (
    MAGPIE,
    WORKER,
    caller,
    complete,
    make_due,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.conftest import ServerLog
from tests.db.lane_requests import rooted_guild
from tests.db.mark_arrivals import ARRIVALS, Arrival, by_delay, by_lost_lease
from tests.db.mark_checks import LANE, check_marks, first_claimable, newest_mark, raise_line
from tests.db.old_release import OldWorker
from tests.db.races import begun, elsewhere, half_done
from tests.db.stored import set_number, write

pytestmark = pytest.mark.usefixtures("committed_db")

Prepare = Callable[[GuildId], Arrival]
arrivals = pytest.mark.parametrize("prepare", ARRIVALS)
endings = pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path)


@pytest.fixture
def behind(guild: GuildId) -> SessionId:
    """A meeting with plenty to claim."""
    return stored_session(guild, n_tracks=40)


def claim(n: int = 1, *, session: SessionId | None = None) -> list[JobId]:
    leases = claim_jobs("w", filter=JobFilter(session=session), count=n, ttl_s=60)
    return [lease.job.id for lease in leases]


def raise_lines(guild: GuildId) -> None:
    raise_line(guild, counts=True)
    raise_line(LANE)


def marks(guild: GuildId) -> tuple[object, object]:
    return newest_mark(guild), newest_mark(LANE)


def settled(action: Callable[[], object]) -> Callable[[], None]:
    """The action with what it otherwise does at commit done at once: it holds the mark's lock."""

    def run() -> None:
        action()
        claims.settle_marks()

    return run


def check_claims() -> None:
    """No mark hides anything, and a claim takes what is first."""
    check_marks()
    first = first_claimable()
    assert claim() == first


@endings
@arrivals
def test_a_mark_raised_before_the_arrival_commits_is_lowered_by_it(
    guild: GuildId, behind: SessionId, prepare: Prepare, commit: bool
) -> None:
    arrive = prepare(guild)

    with half_done(arrive, commit=commit):
        assert len(elsewhere(lambda: claim(3, session=behind))) == 3
        elsewhere(lambda: raise_lines(guild))
        raised = marks(guild)

    # A sweep locks the mark before it writes, so that nobody raises it meanwhile.
    assert (marks(guild) != raised) is (commit and prepare is not by_delay)
    check_claims()


@arrivals
def test_an_arrival_waits_for_whoever_raises_the_mark(
    guild: GuildId, behind: SessionId, prepare: Prepare
) -> None:
    arrive = prepare(guild)

    with half_done(lambda: raise_lines(guild), commit=True) as raising, begun(arrive) as arriving:
        arriving.wait_until_blocked()
        raising.end()
        arriving.result()

    check_claims()


@endings
@arrivals
def test_a_mark_that_an_arrival_is_at_is_not_raised_and_delays_no_claim(
    guild: GuildId, behind: SessionId, prepare: Prepare, commit: bool
) -> None:
    raise_lines(guild)
    arrive = prepare(guild)
    before = {line: newest_mark(line) for line in (guild, LANE)}

    with half_done(settled(arrive), commit=commit):
        assert len(elsewhere(lambda: claim(20, session=behind))) == 20
        elsewhere(lambda: raise_lines(guild))

        line = LANE if prepare is by_lost_lease else guild
        assert newest_mark(line) == before[line]

    check_claims()


@endings
def test_a_move_to_the_front_needs_no_lower_mark(
    guild: GuildId, behind: SessionId, commit: bool
) -> None:
    moved = stored_session(guild)

    def move() -> None:
        move_session(moved, guild_id=guild, place=Place.FIRST, caller=caller())

    raise_lines(guild)
    with half_done(settled(move), commit=commit):
        elsewhere(lambda: raise_lines(guild))

    check_marks()
    assert claim() == track_ids(moved if commit else behind)[:1]


@endings
def test_a_claim_that_rolls_back_leaves_the_mark_before_its_jobs(
    guild: GuildId, behind: SessionId, commit: bool
) -> None:
    def take_and_raise() -> None:
        claim(3)
        raise_lines(guild)

    with half_done(take_and_raise, commit=commit):
        for _ in range(20):
            assert elsewhere(claim)
        elsewhere(lambda: raise_lines(guild))

    check_marks()
    raise_lines(guild)
    check_marks()
    first = first_claimable()
    assert (first == [track_ids(behind)[0]]) is not commit
    assert claim() == first


@endings
def test_a_mark_stays_before_what_another_claim_has_not_committed(
    guild: GuildId, behind: SessionId, commit: bool
) -> None:
    with half_done(lambda: OldWorker("old").claim(count=2), commit=commit):
        for _ in range(20):
            assert elsewhere(claim)
        elsewhere(lambda: raise_lines(guild))

        assert newest_mark(guild) == (0, track_ids(behind)[0])

    check_claims()


@endings
def test_what_runs_is_counted_beside_jobs_that_begin_and_end(
    guild: GuildId, behind: SessionId, commit: bool
) -> None:
    leases = running_jobs(behind, n=6)
    (other,) = running_jobs(stored_session(guild))

    def end_and_begin() -> None:
        with transaction.atomic():
            complete(leases[0])
            claim(3)
        raise_line(guild, counts=True)

    with (
        half_done(lambda: complete(other), commit=commit),
        half_done(lambda: OldWorker("old").claim(count=2), commit=commit),
    ):
        elsewhere(end_and_begin)
        check_marks()

    check_marks()
    raise_line(guild, counts=True)
    check_marks()


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_writer_with_one_snapshot_lowers_a_mark_that_it_cannot_see(
    guild: GuildId, behind: SessionId, database_url: str, level: str
) -> None:
    session = stored_session(guild)
    set_number(session, -1)
    hold_session(session, guild_id=guild, reason="", caller=caller())
    with psycopg.connect(database_url) as writer:
        writer.execute(f"SET TRANSACTION ISOLATION LEVEL {level}".encode())
        writer.execute("SELECT count(*) FROM guildqueue_job")
        raise_line(guild)
        claim(8)
        raise_line(guild)

        writer.execute("UPDATE guildqueue_job SET held = false WHERE session_id = %s", [session])

    check_claims()


def test_what_a_transaction_began_before_it_counted_is_counted_once(
    guild: GuildId, behind: SessionId
) -> None:
    with transaction.atomic():
        assert len(claim(2)) == 2
        # Numbered later and committed earlier.
        assert len(elsewhere(lambda: claim(3))) == 3
        raise_line(guild, counts=True)
        assert len(claim(1)) == 1
        elsewhere(check_marks)

    check_marks()


def test_a_sweep_over_guilds_and_a_batch_done_in_them_wait_in_no_circle(
    guild: GuildId, server_log: ServerLog
) -> None:
    other = stored_guild(MAGPIE)
    # The jobs of the guild that comes last are the older ones.
    late = {place: stored_session(place, n_tracks=0) for place in (other, guild)}
    done = [running_jobs(stored_session(place))[0] for place in (other, guild)]
    for place, session in late.items():
        enqueue_jobs(place, jobs=[NewJob(session_id=session, kind="transcribe")])
        make_due(track_ids(session)[0])
    raise_line(guild)
    raise_line(other)

    def complete_both() -> object:
        ends = [Completion(lease.job.id, lease.token, {}) for lease in done]
        return complete_and_claim(WORKER, ends, filter=JobFilter(), count=1, ttl_s=60)

    def arrive() -> None:
        enqueue_jobs(other, jobs=[NewJob(session_id=late[other], kind="transcribe")])

    with half_done(settled(arrive), commit=True) as arriving, begun(settle_overdue) as sweeping:
        sweeping.wait_until_blocked()
        with begun(complete_both) as completing:
            completing.wait_until_blocked()
            arriving.end()

    assert not server_log.has_deadlock()
    check_marks()


RESTORED = {
    "counted before the dump": ("9000000:9000000:", None),
    "and some ended after that": ("9000000:9000000:", 9000001),
    "some ended after it, of a smaller number": ("3:3:", 9000001),
}


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("seen", "by"), RESTORED.values(), ids=RESTORED)
def test_a_dump_restored_into_a_younger_cluster_counts_exactly(
    guild: GuildId,
    behind: SessionId,
    seen: str,
    by: int | None,
    counted: bool,
) -> None:
    claim(3)
    write("DELETE FROM guildqueue_running_step")
    write("DELETE FROM guildqueue_mark")
    n_ended = 0
    if by is not None:
        n_ended = 2
        write(
            "INSERT INTO guildqueue_running_step (guild_id, by, delta)"
            " SELECT %s, %s::text::xid8, -1 FROM generate_series(1, 2)",
            guild,
            str(by),
        )
    write(
        "INSERT INTO guildqueue_mark (guild_id, priority, job_id, running, seen)"
        " VALUES (%s, -9, 0, %s, %s::pg_snapshot)",
        guild,
        3 + n_ended,
        seen,
    )
    check_marks()

    if counted:
        raise_line(guild, counts=True)
    check_marks()
    claim(2)
    check_marks()
