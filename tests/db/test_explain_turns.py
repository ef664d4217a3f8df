"""Plans of a claim in turns: few pages whatever waits, in however many guilds, full or not."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.store.statements import load_statements
from tests.builders import MAGPIE, STARLING, stored_guild
from tests.db.stored import prepared_text, write
from tests.db.test_explain import CLAIM, Plan, fill, literal

pytestmark = pytest.mark.usefixtures("committed_db")

TURN: dict[str, Any] = CLAIM | {
    "guild_id": STARLING,
    "is_locked": False,
    "last": 0,
    "passed": [],
    "filter_hash": "h",
}
STEPS = ("find_lane", "read_cursor", "find_turn", "claim_turn", "append_cursor")


class PreparedTurn:
    """A claim in turns as a worker's connection has it: prepared once, its plans kept."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.params: dict[str, list[str]] = {}
        with connection.transaction(force_rollback=True):
            connection.execute(load_statements()["pin_plans"])
            for name in (*STEPS, "claim_lane", "find_first"):
                text, self.params[name] = prepared_text(name)
                connection.execute(f"PREPARE {name} AS {text}")

    def explain(self, *names: str, **given: Any) -> dict[str, Plan]:
        """The plans and what their run touched; nothing stays claimed. The second of two runs."""
        self._run(names, given)
        return self._run(names, given)

    def _run(self, names: tuple[str, ...], given: dict[str, Any]) -> dict[str, Plan]:
        plans = {}
        with self.connection.transaction(force_rollback=True):
            self.connection.execute(load_statements()["pin_plans"])
            for name in names:
                values = ", ".join(literal((TURN | given)[param]) for param in self.params[name])
                found = self.connection.execute(
                    f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {name}({values})"
                ).fetchone()
                assert found is not None
                plans[name] = Plan(found[0])
        return plans

    def buffers(self, **given: Any) -> int:
        """Of all steps of one claim."""
        return sum(plan.buffers for plan in self.explain(*STEPS, **given).values())


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture
def turn(guild: GuildId, database_url: str) -> Iterator[PreparedTurn]:
    """Prepared, run and so planned while there is not one job."""
    write("VACUUM ANALYZE guildqueue_job, guildqueue_guild, guildqueue_claim_cursor")
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=None) as connection:
        prepared = PreparedTurn(connection)
        for _ in range(4):
            prepared.explain(*STEPS, "claim_lane", "find_first")
        yield prepared


def more_guilds(n: int, *, running_cap: int | None = None) -> None:
    write(
        "INSERT INTO guildqueue_guild (id, name, running_cap)"
        " SELECT %s + n, 'guild', %s FROM generate_series(10, %s + 9) AS n",
        STARLING,
        running_cap,
        n,
    )


def test_a_claim_in_turns_touches_few_pages_however_many_wait(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 400)
    few = turn.buffers()
    fill(guild, 3600)
    many = turn.explain(*STEPS)

    assert few < 60
    assert abs(sum(plan.buffers for plan in many.values()) - few) <= 5
    assert "job_turn" in many["find_turn"].indexes
    assert "job_turn" in many["claim_turn"].indexes
    for name, plan in many.items():
        assert not plan.of_type("Seq Scan"), name
        assert not plan.of_type("Bitmap Heap Scan"), name
        assert len(plan.of_type("Sort")) <= 1, name  # what became due


def test_what_may_not_run_costs_a_turn_nothing(guild: GuildId, turn: PreparedTurn) -> None:
    fill(guild, 400)
    free = turn.buffers()
    fill(guild, 1000, priority="-1", held="true")
    fill(guild, 1000, priority="-1", unmet="1")
    fill(guild, 1000, priority="-1", run_after="now() + interval '1 hour'")
    fill(guild, 1000, priority="-1", state="'done'", finished_at="now()")

    assert abs(turn.buffers() - free) <= 5


def test_a_cap_costs_a_turn_a_count_of_what_runs(guild: GuildId, turn: PreparedTurn) -> None:
    fill(guild, 400)
    free = turn.buffers()
    write("UPDATE guildqueue_guild SET running_cap = 20 WHERE id = %s", guild)
    fill(guild, 2, state="'running'", lease_by="'w'", lease_expires_at="now() + interval '1 h'")

    assert turn.buffers(is_locked=True) <= free + 60


def test_a_full_guild_in_front_costs_a_turn_no_look_at_its_line(
    guild: GuildId, turn: PreparedTurn
) -> None:
    behind = stored_guild(MAGPIE)
    fill(behind, 400)
    free = turn.buffers(guild_id=MAGPIE)
    write("UPDATE guildqueue_guild SET running_cap = 1 WHERE id = %s", guild)
    fill(guild, 4000, priority="-1")
    fill(
        guild,
        1,
        per_session=1,
        state="'running'",
        lease_by="'w'",
        lease_expires_at="now() + interval '1 h'",
    )

    assert turn.buffers(guild_id=MAGPIE) <= free + 15
    (closed,) = turn.explain("claim_turn", is_locked=True).values()
    assert closed.buffers <= 15


def test_a_turn_among_a_thousand_guilds_with_work_is_found_at_once(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 400)
    free = turn.buffers()
    more_guilds(1000, running_cap=3)
    write(
        "WITH made AS (INSERT INTO guildqueue_session (guild_id, title)"
        " SELECT id, 'meeting' FROM guildqueue_guild WHERE id > %s RETURNING id, guild_id)"
        " INSERT INTO guildqueue_job (guild_id, session_id, kind)"
        " SELECT guild_id, id, 'transcribe' FROM made",
        MAGPIE,
    )

    assert turn.buffers() <= free + 10


def test_an_empty_lane_is_seen_at_its_index_and_a_long_one_at_its_head(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 4000)
    empty = turn.explain("find_lane")["find_lane"]
    write("UPDATE guildqueue_job SET bump_seq = id WHERE id %% 10 = 0")
    full = turn.explain("find_lane", "claim_lane")

    assert empty.buffers < 15
    assert full["find_lane"].buffers < 40
    assert full["claim_lane"].buffers < 60
