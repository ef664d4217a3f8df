"""Moves at once: always one after the other, and never in each other's way for good."""

import random
from collections.abc import Callable, Mapping

import pytest

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import OrderedSession, Place, plan_move
from guildqueue.domain.order import SortKey
from guildqueue.domain.rules import MeasuredSession, plan_rule
from guildqueue.services.apply_rule import apply_rule
from guildqueue.services.browse import events_page
from guildqueue.services.claim import claim_jobs
from guildqueue.services.move import move_session
from tests.builders import caller, complete, stored_guild, stored_session
from tests.conftest import ServerLog
from tests.db.races import begun, half_done, query, together
from tests.db.stored import line, numbers

pytestmark = pytest.mark.usefixtures("committed_db")

ROUNDS = 20
Numbers = dict[SessionId, int]
Planner = Callable[[Numbers], Numbers]


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def first_ids(guild_id: GuildId) -> dict[SessionId, int]:
    found = query(
        "SELECT session_id, min(id) FROM guildqueue_job WHERE guild_id = %s"
        " AND state IN ('pending', 'running') GROUP BY session_id",
        [guild_id],
    )
    return dict(found)


def queue_of(before: Numbers, ids: Mapping[SessionId, int]) -> list[OrderedSession]:
    queue = [OrderedSession(s, SortKey(number, ids[s])) for s, number in before.items()]
    return sorted(queue, key=lambda session: session.key)


def random_move(
    chance: random.Random,
    sessions: list[SessionId],
    guild_id: GuildId,
    ids: Mapping[SessionId, int],
) -> tuple[Callable[[], object], Planner]:
    """A move as a request, and what the planner alone makes of the numbers."""
    moved, neighbour = chance.sample(sessions, 2)
    place = chance.choice(list(Place))
    named = neighbour if place in (Place.BEFORE, Place.AFTER) else None

    def ask() -> object:
        return move_session(moved, guild_id=guild_id, place=place, neighbour=named, caller=caller())

    def plan(before: Numbers) -> Numbers:
        queue = queue_of(before, ids)
        return dict(plan_move(queue, moved=moved, place=place, neighbour=named).order)

    return ask, plan


def random_rule(
    chance: random.Random, guild_id: GuildId, ids: Mapping[SessionId, int]
) -> tuple[Callable[[], object], Planner]:
    rule = chance.choice(["many-participants-first", "short-recordings-first"])
    people = dict(query("SELECT session_id, count(*) FROM guildqueue_participant GROUP BY 1"))

    def plan(before: Numbers) -> Numbers:
        measured = [
            MeasuredSession(s.session_id, s.key, people[s.session_id], 60.0 * people[s.session_id])
            for s in queue_of(before, ids)
        ]
        return dict(plan_rule(rule, measured).order)

    return lambda: apply_rule(guild_id, rule=rule, caller=caller()), plan


def assert_serial(guild_id: GuildId, before: Numbers, first: Planner, second: Planner) -> None:
    after = numbers(guild_id)
    assert after in (second(first(before)), first(second(before)))
    assert list(after) == line(guild_id)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_two_moves_at_once_are_one_after_the_other(guild: GuildId, seed: int) -> None:
    chance = random.Random(seed)
    sessions = [stored_session(guild) for _ in range(6)]
    ids = first_ids(guild)
    for _ in range(3):
        random_move(chance, sessions, guild, ids)[0]()
    (ask_a, plan_a), (ask_b, plan_b) = [random_move(chance, sessions, guild, ids) for _ in range(2)]
    before = numbers(guild)

    answers = together(ask_a, ask_b)

    assert not [answer for answer in answers if isinstance(answer, QueueError)]
    assert_serial(guild, before, plan_a, plan_b)


def test_a_move_and_a_rule_at_once_are_one_after_the_other(guild: GuildId) -> None:
    chance = random.Random(7)
    sessions = [stored_session(guild, n_tracks=n) for n in (2, 1, 4, 3, 2)]
    ids = first_ids(guild)

    for _ in range(ROUNDS):
        ask_move, plan_a = random_move(chance, sessions, guild, ids)
        ask_rule, plan_b = random_rule(chance, guild, ids)
        before = numbers(guild)
        together(ask_move, ask_rule)
        assert_serial(guild, before, plan_a, plan_b)


def test_the_second_move_is_decided_against_what_the_first_left(guild: GuildId) -> None:
    a, b, c = [stored_session(guild) for _ in range(3)]

    def first(session_id: SessionId) -> Callable[[], object]:
        return lambda: move_session(session_id, guild_id=guild, place=Place.FIRST, caller=caller())

    with half_done(first(c), commit=True) as moving, begun(first(b)) as behind:
        behind.wait_until_blocked()
        assert line(guild) == [a, b, c]
        moving.end()

    assert line(guild) == [b, c, a]


def test_random_moves_of_many_keep_every_session_in_a_place_of_its_own(
    guild: GuildId, server_log: ServerLog
) -> None:
    sessions = [stored_session(guild) for _ in range(12)]
    ids = first_ids(guild)

    def mover(seed: int) -> Callable[[], int]:
        chance = random.Random(seed)
        asks = [random_move(chance, sessions, guild, ids)[0] for _ in range(50)]
        return lambda: len([ask() for ask in asks])

    def worker() -> int:
        taken = [lease for _ in range(20) for lease in claim_jobs("w", ttl_s=60)]
        return len(taken)

    answers = together(*[mover(seed) for seed in range(8)], worker)

    assert answers[:8] == [50] * 8
    keys = query("SELECT priority, id FROM guildqueue_job WHERE kind = 'transcribe'")
    assert len(set(keys)) == 12
    assert set(line(guild)) == set(sessions)
    assert not server_log.has_deadlock()
    written = [set(record.changed["sessions"]) for record in events_page(guild)]
    assert all(written)


def test_a_move_waits_for_a_claim_and_writes_the_running_job_too(guild: GuildId) -> None:
    a, b = stored_session(guild), stored_session(guild)

    with (
        half_done(lambda: claim_jobs("w", ttl_s=60), commit=True) as claiming,
        begun(
            lambda: move_session(b, guild_id=guild, place=Place.FIRST, caller=caller())
        ) as moving,
    ):
        moving.wait_until_blocked()
        claiming.end()

        assert moving.result().changed == (a,)

    states = query("SELECT state, priority FROM guildqueue_job WHERE session_id = %s", [a])
    assert sorted(states) == [("pending", 1), ("running", 1)]


def test_a_track_completed_while_its_session_moves_leaves_one_number(guild: GuildId) -> None:
    a, b = stored_session(guild, n_tracks=2), stored_session(guild)
    first, _ = claim_jobs("account:tester@host/1", count=2, ttl_s=60)

    with (
        half_done(lambda: complete(first), commit=True) as completing,
        begun(
            lambda: move_session(b, guild_id=guild, place=Place.FIRST, caller=caller())
        ) as moving,
    ):
        moving.wait_until_blocked()
        completing.end()

    assert numbers(guild) == {b: 0, a: 1}
