"""What a claim touches under an old snapshot: much went out of turn, or guilds were emptied."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.services.hold import hold_guild
from guildqueue.store.statements import load_statements
from tests.builders import MAGPIE, STARLING, caller, stored_guild
from tests.db.prepared_turn import TURN, PreparedTurn
from tests.db.stored import write
from tests.db.test_explain import fill, literal

pytestmark = pytest.mark.usefixtures("committed_db")

# A claim reads past what was taken since the last mark, but past nothing before that.
MORE_BUFFERS = 10
N_CLAIMS = 1800
# In the server, as so many claims over the wire take too long; each with commits of its own.
WORK_OFF = """
DO $work$ DECLARE job record; BEGIN
  FOR n IN 1..{n_jobs} LOOP
    EXECUTE $claim${claim}$claim$ INTO job;
    COMMIT;
    UPDATE guildqueue_job
       SET state = 'done', lease_by = NULL, lease_expires_at = NULL, finished_at = now(),
           bump_seq = NULL, bump_named = false
     WHERE id = job.id;
    COMMIT;
  END LOOP;
END $work$
"""


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture
def old_snapshot(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield reader


def work_off(turn: PreparedTurn, n_jobs: int) -> None:
    """Claim and complete so many jobs, one after the other."""
    statement = load_statements()["claim_in_turns"]
    claim = re.sub(r"%\((\w+)\)s", lambda found: literal(TURN[found[1]]), statement)
    turn.connection.execute(WORK_OFF.format(n_jobs=n_jobs, claim=claim).encode())


def bump(guild: GuildId) -> None:
    write("UPDATE guildqueue_job SET bump_seq = id WHERE guild_id = %s", guild)


def test_an_old_snapshot_makes_no_claim_of_the_lane_touch_more(
    guild: GuildId, turn: PreparedTurn, old_snapshot: psycopg.Connection[Any]
) -> None:
    fill(guild, 4000)
    bump(guild)
    work_off(turn, 30)
    fresh = turn.buffers()

    old_snapshot.execute("SELECT count(*) FROM guildqueue_job")
    work_off(turn, N_CLAIMS)

    assert turn.buffers() <= fresh + MORE_BUFFERS


def test_a_lane_worked_off_under_an_old_snapshot_costs_later_claims_nothing(
    guild: GuildId, turn: PreparedTurn, old_snapshot: psycopg.Connection[Any]
) -> None:
    behind = stored_guild(MAGPIE)
    fill(behind, 4000)
    work_off(turn, 30)
    fresh = turn.buffers()

    old_snapshot.execute("SELECT count(*) FROM guildqueue_job")
    fill(guild, N_CLAIMS, per_session=1)
    bump(guild)
    work_off(turn, N_CLAIMS + 30)

    assert turn.buffers() <= fresh + MORE_BUFFERS


def test_guilds_worked_off_under_an_old_snapshot_cost_the_others_nothing(
    guild: GuildId, turn: PreparedTurn, old_snapshot: psycopg.Connection[Any]
) -> None:
    fill(guild, 4000)
    worked_off = [stored_guild(STARLING + n) for n in range(1, 4)]
    work_off(turn, 30)
    fresh = turn.buffers()

    old_snapshot.execute("SELECT count(*) FROM guildqueue_job")
    for other in worked_off:
        fill(other, N_CLAIMS // 3, per_session=1)
    work_off(turn, 4 * N_CLAIMS // 3 + 30)

    assert turn.buffers() <= fresh + MORE_BUFFERS


def test_a_lost_lease_that_nobody_may_take_costs_the_lane_nothing(
    guild: GuildId, turn: PreparedTurn, old_snapshot: psycopg.Connection[Any]
) -> None:
    fill(guild, 4000)
    held = stored_guild(MAGPIE)
    fill(held, 1, per_session=1, state="'running'", lease_by="'w'", lease_expires_at="now()")
    write("UPDATE guildqueue_job SET lost_at = now() WHERE guild_id = %s", held)
    hold_guild(held, reason="", caller=caller())
    bump(guild)
    work_off(turn, 30)
    fresh = turn.buffers()

    old_snapshot.execute("SELECT count(*) FROM guildqueue_job")
    work_off(turn, N_CLAIMS)

    assert turn.buffers() <= fresh + MORE_BUFFERS
