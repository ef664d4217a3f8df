"""The lane while others claim, move and bump: never a lease touched, always one after the other."""

import random
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest
from django.db import OperationalError, transaction
from psycopg import errors

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Lease
from guildqueue.domain.moves import Place
from guildqueue.services.browse import events_page
from guildqueue.services.claim import claim_jobs
from guildqueue.services.move import move_session
from guildqueue.services.unbump import unbump_session
from guildqueue.store import lane as store
from tests.builders import caller, complete, document_id, stored_session, track_ids
from tests.conftest import ServerLog
from tests.db.lane_requests import (
    bumped,
    bumped_session,
    lane,
    named,
    operator,
    rooted_guild,
    tracks_alone,
    unbumped,
)
from tests.db.races import begun, half_done, query, together
from tests.db.stored import numbers, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path)


def claim(worker: str = "w", *, count: int = 1) -> list[Lease]:
    return claim_jobs(worker, count=count, ttl_s=60)


def leases() -> list[tuple[object, ...]]:
    return query(
        "SELECT id, state, token, lease_by, lease_expires_at, attempt FROM guildqueue_job"
        " WHERE state = 'running' ORDER BY id"
    )


def test_five_workers_at_once_take_exactly_the_first_five_of_the_lane(guild: GuildId) -> None:
    jobs = tracks_alone(guild, 12)
    wanted = [jobs[n] for n in (11, 3, 7, 1, 9, 5)]
    for job_id in wanted:
        bumped(job_id)

    taken: list[JobId] = []
    together(
        *[lambda n=n: taken.extend(lease.job.id for lease in claim(f"w{n}")) for n in range(5)]
    )

    assert sorted(taken) == sorted(wanted[:5])


def test_five_claims_open_at_once_take_the_first_five_of_the_lane_in_its_order(
    guild: GuildId,
) -> None:
    jobs = tracks_alone(guild, 12)
    wanted = [jobs[n] for n in (11, 3, 7, 1, 9, 5)]
    for job_id in wanted:
        bumped(job_id)

    taken: list[JobId] = []

    def take() -> None:
        taken.extend(lease.job.id for lease in claim(f"w{len(taken)}"))

    with ExitStack() as workers:
        for _ in range(5):
            # None of the transactions before has ended: each claim passes over what they hold.
            workers.enter_context(half_done(take, commit=True))

    assert taken == wanted[:5]
    assert [row[0] for row in leases()] == sorted(wanted[:5])


def test_one_worker_takes_the_lane_in_its_order_and_then_the_others(guild: GuildId) -> None:
    jobs = tracks_alone(guild, 5)
    for job_id in (jobs[4], jobs[2]):
        bumped(job_id)

    taken = [claim()[0].job.id for _ in range(5)]

    assert taken == [jobs[4], jobs[2], jobs[0], jobs[1], jobs[3]]


def test_a_bump_moves_what_runs_and_leaves_its_lease_alone(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    running = claim()[0].job.id
    before = leases()

    outcome = bumped(document_id(session))

    assert outcome.moved == tuple(map(str, [*track_ids(session), document_id(session)]))
    assert leases() == before
    assert lane()[0] == running


def test_a_bump_waits_for_a_claim_and_then_moves_the_running_job(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)

    with half_done(claim, commit=True) as claiming, begun(lambda: bumped(job_id)) as bumping:
        bumping.wait_until_blocked()
        claiming.end()
        assert bumping.result().moved == (str(job_id),)

    [(_, state, token, *_)] = leases()
    assert (state, token) == ("running", 1)


def test_a_claim_passes_over_what_a_bump_holds(guild: GuildId) -> None:
    first, second = tracks_alone(guild, 2)

    with half_done(lambda: bumped(first), commit=True):
        assert [lease.job.id for lease in claim()] == [second]

    assert lane() == [first]


def test_bumps_among_claims_and_completions_never_touch_a_lease(
    guild: GuildId, server_log: ServerLog
) -> None:
    for _ in range(6):
        stored_session(guild, n_tracks=2)
    jobs = [job_id for (job_id,) in query("SELECT id FROM guildqueue_job ORDER BY id")]
    chance = random.Random(5)

    taken: list[JobId] = []

    def work(worker: str) -> Callable[[], None]:
        def run() -> None:
            for _ in range(8):
                for lease in claim(worker):
                    complete(lease, principal=worker)
                    taken.append(lease.job.id)

        return run

    def ask() -> None:
        for _ in range(15):
            chance.choice([bumped, unbumped])(chance.choice(jobs))

    done = together(*[work(f"w{n}") for n in range(3)], ask, ask)

    assert done == [None] * 5
    assert len(taken) == len(set(taken)) > 0
    assert not server_log.has_deadlock()
    assert query("SELECT count(*) FROM guildqueue_job WHERE token > 1") == [(0,)]


@pytest.mark.parametrize("seed", range(8))
def test_bumps_and_unbumps_at_once_give_a_serial_result(guild: GuildId, seed: int) -> None:
    chance = random.Random(seed)
    sessions = [stored_session(guild, n_tracks=2) for _ in range(2)]
    jobs = [job for s in sessions for job in (*track_ids(s), document_id(s))]
    for job_id in chance.sample(jobs, 2):
        bumped(job_id)
    asked = [(chance.choice([bumped, unbumped]), chance.choice(jobs)) for _ in range(3)]
    possible = [outcome_of(guild, order) for order in permutations(asked)]

    together(*[lambda v=verb, j=job_id: v(j) for verb, job_id in asked])

    assert (lane(), named()) in possible


def outcome_of(
    guild: GuildId, asked: tuple[tuple[Callable[[JobId], object], JobId], ...]
) -> object:
    """The lane that requests one after the other give, taken back afterwards."""
    return taken_back(lambda: (lane(), named()), [partial(verb, job_id) for verb, job_id in asked])


def taken_back(read: Callable[[], object], asked: Iterable[Callable[[], object]]) -> object:
    """What ``read`` finds once each has been asked for in turn; none of it stays."""
    with transaction.atomic():
        for ask in asked:
            with suppress(QueueError):
                ask()
        found = read()
        transaction.set_rollback(True)
    return found


def order_of(guild: GuildId) -> object:
    """All that decides the order of the guild's claims."""
    numbered = query("SELECT id, priority FROM guildqueue_job ORDER BY id")
    return (lane(guild), named(guild), numbered)


@pytest.mark.parametrize("seed", range(8))
def test_moves_and_bumps_at_once_give_one_of_the_serial_results(
    guild: GuildId, server_log: ServerLog, seed: int
) -> None:
    chance = random.Random(seed)
    sessions = [stored_session(guild, n_tracks=2) for _ in range(4)]
    bumped_session(sessions[0])

    def moving() -> Callable[[], object]:
        moved, neighbour = chance.sample(sessions, 2)
        place = chance.choice([Place.BEFORE, Place.AFTER])
        return lambda: move_session(
            moved, guild_id=guild, place=place, neighbour=neighbour, caller=caller()
        )

    def asking() -> Callable[[], object]:
        session = chance.choice(sessions)
        job_id = chance.choice([*track_ids(session), document_id(session)])
        return chance.choice(
            [
                lambda: bumped_session(session),
                lambda: bumped(job_id),
                lambda: unbumped(job_id),
                lambda: unbump_session(session, guild_id=guild, asker=operator()),
            ]
        )

    asked = [moving(), asking(), moving(), asking()]
    possible = [taken_back(lambda: order_of(guild), turn) for turn in permutations(asked)]

    together(*asked)

    assert order_of(guild) in possible
    assert not server_log.has_deadlock()


def test_many_moves_and_bumps_at_once_never_deadlock(guild: GuildId, server_log: ServerLog) -> None:
    sessions = [stored_session(guild, n_tracks=2) for _ in range(6)]
    chance = random.Random(11)

    def move() -> None:
        for _ in range(8):
            session, neighbour = chance.sample(sessions, 2)
            try:
                move_session(
                    session,
                    guild_id=guild,
                    place=Place.BEFORE,
                    neighbour=neighbour,
                    caller=caller(),
                )
            except QueueError:
                continue

    def ask() -> None:
        for _ in range(8):
            bumped_session(chance.choice(sessions))
            unbumped(chance.choice(lane() or [JobId(1)]))

    answers = together(move, ask, move, ask)

    assert answers == [None] * 4
    assert not server_log.has_deadlock()
    numbers(guild)  # fails where jobs of one session carry two numbers
    assert query("SELECT count(*) FROM guildqueue_job WHERE bump_seq IS NULL AND bump_named") == [
        (0,)
    ]
    types = {record.type for record in events_page(guild)}
    assert "PriorityBumped" in types


def test_a_bump_that_the_database_breaks_twice_is_a_refusal_on_record(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    [job_id] = tracks_alone(guild, 1)
    tries = []

    def broken(*_: object) -> None:
        tries.append(1)
        raise OperationalError from errors.DeadlockDetected()

    monkeypatch.setattr(store, "lock_lane", broken)

    outcome = bumped(job_id)

    assert (outcome.refusal, len(tries)) == ("busy", 2)
    assert "a retry is safe" in outcome.note
    [record] = events_page(guild)
    assert (record.type, record.changed["refusal"]) == ("PriorityRefused", "busy")
    assert record.untrusted is False


def test_a_bump_that_meets_a_real_deadlock_is_decided_again_or_refused(
    guild: GuildId, server_log: ServerLog
) -> None:
    first, second = tracks_alone(guild, 2)
    bumped(first)

    with ExitStack() as mine:
        mine.enter_context(transaction.atomic())
        # Against the rule of ascending ids: the only way to a cycle.
        write("SELECT 1 FROM guildqueue_job WHERE id = %s FOR UPDATE", second)
        with begun(lambda: bumped(second)) as bumping:
            bumping.wait_until_blocked()
            write("SET LOCAL deadlock_timeout = '20s'")
            write("SELECT 1 FROM guildqueue_job WHERE id = %s FOR UPDATE", first)
            mine.close()
            outcome = bumping.result()

    # Whoever is quicker once the cycle is broken: the other side, or the cycle comes again.
    assert outcome.accepted or outcome.refusal == "busy"
    assert lane() == ([first, second] if outcome.accepted else [first])
    assert server_log.has_deadlock()
