"""What a claim in turns touches: few pages, whatever waits, in however many guilds, full or not."""

import psycopg
import pytest

from guildqueue.domain.ids import GuildId
from tests.builders import MAGPIE, STARLING, stored_guild
from tests.db.prepared_turn import PreparedTurn
from tests.db.stored import write
from tests.db.test_explain import fill

pytestmark = pytest.mark.usefixtures("committed_db")

MOST_BUFFERS = 40  # a claim, with its cursor, its cap and its lease
SLOT_BUFFERS = 4  # to lock a guild with a cap and count what runs


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def more_guilds(n: int, *, running_cap: int | None = None, with_work: bool = False) -> None:
    write(
        "INSERT INTO guildqueue_guild (id, name, running_cap)"
        " SELECT %s + n, 'guild', %s FROM generate_series(10, %s + 9) AS n",
        STARLING,
        running_cap,
        n,
    )
    if with_work:
        write(
            "WITH made AS (INSERT INTO guildqueue_session (guild_id, title)"
            " SELECT id, 'meeting' FROM guildqueue_guild WHERE id > %s RETURNING id, guild_id)"
            " INSERT INTO guildqueue_job (guild_id, session_id, kind)"
            " SELECT guild_id, id, 'transcribe' FROM made",
            MAGPIE,
        )


def run_some(guild_id: GuildId, n_sessions: int, *, per_session: int = 5) -> None:
    fill(
        guild_id,
        n_sessions,
        per_session=per_session,
        priority="-1",
        state="'running'",
        lease_by="'w'",
        lease_expires_at="now() + interval '1 hour'",
    )


def cap(guild_id: GuildId, most: int) -> None:
    write("UPDATE guildqueue_guild SET running_cap = %s WHERE id = %s", most, guild_id)


def work_off(turn: PreparedTurn, n: int) -> None:
    """Claim and complete so many jobs, one after the other."""
    for _ in range(n):
        write(
            "UPDATE guildqueue_job SET state = 'done', lease_by = NULL, lease_expires_at = NULL,"
            " finished_at = now() WHERE id = ANY (%s)",
            turn.claim(),
        )


@pytest.mark.parametrize("running_cap", [None, 5])
def test_a_claim_among_20000_touches_what_it_touches_among_2000(
    guild: GuildId, turn: PreparedTurn, running_cap: int | None
) -> None:
    write("UPDATE guildqueue_guild SET running_cap = %s", running_cap)
    fill(guild, 400)
    turn.claim()  # the first under a cap counts the jobs themselves
    few = turn.buffers()
    fill(guild, 3600)
    many = turn.buffers()
    write("ANALYZE guildqueue_job")
    analysed = turn.buffers()

    assert few <= MOST_BUFFERS
    # Each of four indexes may have grown by a level.
    assert abs(many - few) <= 5
    assert abs(analysed - few) <= 5


def test_every_statement_of_a_claim_keeps_to_its_index_and_sorts_nothing(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 4000)
    cap(guild, 5)
    turn.claim()
    plans = turn.plans()

    used = set().union(*(plan.indexes for plan in plans))
    assert {"guildqueue_claim_cursor_pkey", "guildqueue_mark_pkey", "guildqueue_guild_pkey"} <= used
    assert {"running_step_guild", "job_turn"} <= used
    assert len(plans) >= 8
    for plan in plans:
        # Of the one job that is taken; a line is read in its order.
        assert all(sort["Actual Rows"] <= 1 for sort in plan.of_type("Sort")), plan.root
        assert not plan.of_type("Seq Scan"), plan.root
        assert not plan.of_type("Bitmap Heap Scan"), plan.root


def test_what_may_not_run_or_runs_costs_a_claim_nothing(guild: GuildId, turn: PreparedTurn) -> None:
    fill(guild, 400)
    free = turn.buffers()
    fill(guild, 1000, priority="-1", held="true")
    fill(guild, 1000, priority="-1", unmet="1")
    fill(guild, 1000, priority="-1", run_after="now() + interval '1 hour'")
    fill(guild, 1000, priority="-1", state="'done'", finished_at="now()")
    run_some(guild, 200)
    write("SELECT guildqueue_raise_marks(ARRAY[%s], ARRAY[%s])", guild, guild)  # as upkeep does

    assert abs(turn.buffers() - free) <= 5


def test_a_cap_costs_a_claim_a_handful_of_pages_however_many_run(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 400)
    free = turn.buffers()
    cap(guild, 2000)
    run_some(guild, 200)
    write("SELECT guildqueue_raise_marks(ARRAY[%s], ARRAY[%s])", guild, guild)

    assert turn.buffers() <= free + SLOT_BUFFERS + 2


def test_a_full_guild_in_front_costs_a_claim_no_look_at_its_line(
    guild: GuildId, turn: PreparedTurn
) -> None:
    behind = stored_guild(MAGPIE)
    fill(behind, 400)
    free = turn.buffers()
    cap(guild, 1)
    fill(guild, 4000, priority="-1")
    run_some(guild, 1, per_session=1)

    assert turn.buffers() <= free + 15


def test_a_turn_among_a_thousand_guilds_with_work_is_found_at_once(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 400)
    free = turn.buffers()
    more_guilds(1000, running_cap=3, with_work=True)

    assert turn.buffers() <= free + 10


def test_a_turn_past_a_thousand_guilds_with_nothing_is_found_at_once(turn: PreparedTurn) -> None:
    more_guilds(1000)
    last = stored_guild(GuildId(STARLING + 5000))
    fill(last, 400)
    turn.claim()  # notes at the guilds that it tries that they have nothing

    # A few guilds are tried by their marks before the index is asked for the next one with work.
    assert turn.buffers() <= MOST_BUFFERS + 25


def test_an_empty_lane_costs_its_mark_and_a_long_one_its_head(
    guild: GuildId, turn: PreparedTurn
) -> None:
    fill(guild, 4000)
    free = turn.buffers()
    write("UPDATE guildqueue_job SET bump_seq = id WHERE id %% 10 = 0")

    assert turn.buffers() <= min(MOST_BUFFERS, free + 10)


@pytest.mark.parametrize("n_guilds", [1, 10])
@pytest.mark.parametrize("running_cap", [None, 5])
def test_an_old_snapshot_makes_no_claim_touch_more(
    guild: GuildId,
    turn: PreparedTurn,
    database_url: str,
    n_guilds: int,
    running_cap: int | None,
) -> None:
    more_guilds(n_guilds - 1)
    write("UPDATE guildqueue_guild SET running_cap = %s", running_cap)
    for (guild_id,) in turn.connection.execute("SELECT id FROM guildqueue_guild").fetchall():
        fill(guild_id, 4000 // n_guilds)
    work_off(turn, 30)
    fresh = turn.buffers()

    with psycopg.connect(database_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM guildqueue_job")
        work_off(turn, 400)

        # What a mark does not know yet is counted row by row, and lies on two pages in turn.
        assert turn.buffers() <= fresh + (20 if running_cap else 15)
