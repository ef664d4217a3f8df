"""Plans of the hot statements: the right index, nothing sorted, few pages, whatever there is."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId
from guildqueue.store import claims
from guildqueue.store.scopes import claim_scope
from guildqueue.store.statements import load_statements
from tests.builders import MAGPIE, STARLING, stored_guild
from tests.db.stored import prepared_text, write

pytestmark = pytest.mark.usefixtures("committed_db")

CLAIM = {
    "principal": "w",
    "count": 1,
    "ttl_s": 60,
    "request_id": None,
    "locked": [],
    **claim_scope(JobFilter(), default_cap=None)._asdict(),
}
HELD = {"job_id": 4, "token": 1, "principal": "w"}
CLAIM_INDEXES = {"job_claim", "job_claim_deferred", "job_running_guild"}


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def fill(guild_id: GuildId, n_sessions: int, *, per_session: int = 5, **columns: str) -> None:
    """Sessions with jobs whose ``columns`` are the given SQL expressions, committed at once."""
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", {value}" for value in columns.values())
    write(
        "WITH made AS (INSERT INTO guildqueue_session (guild_id, title)"  # noqa: S608
        " SELECT %s, 'meeting' FROM generate_series(1, %s) RETURNING id)"
        f" INSERT INTO guildqueue_job (guild_id, session_id, kind{names})"
        f" SELECT %s, made.id, 'transcribe'{values}"
        " FROM made, generate_series(1, %s) ORDER BY made.id",
        guild_id,
        n_sessions,
        guild_id,
        per_session,
    )


def literal(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case list():
            return "'{" + ",".join(map(str, value)) + "}'"
        case str():
            return f"'{value}'"
    return str(value)


class Plan:
    """A statement's plan with what its run touched."""

    def __init__(self, found: Any) -> None:
        (explained,) = json.loads(found) if isinstance(found, str) else found
        self.root = explained["Plan"]

    def nodes(self) -> Iterator[dict[str, Any]]:
        pending = [self.root]
        while pending:
            node = pending.pop()
            yield node
            pending += node.get("Plans", [])

    @property
    def buffers(self) -> int:
        return int(self.root["Shared Hit Blocks"] + self.root["Shared Read Blocks"])

    @property
    def indexes(self) -> set[str]:
        return {node["Index Name"] for node in self.nodes() if "Index Name" in node}

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [node for node in self.nodes() if node["Node Type"] == kind]

    def scanned_whole(self, table: str) -> bool:
        return any(node["Relation Name"] == table for node in self.of_type("Seq Scan"))


def explain(name: str, **params: Any) -> Plan:
    """The plan that the named statement gets for these parameters."""
    with transaction.atomic(), connection.cursor() as cursor:
        statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {load_statements()[name]}"
        cursor.execute(statement, params)
        plan = Plan(cursor.fetchone()[0])
        transaction.set_rollback(True)
    return plan


class PreparedClaim:
    """The claim as a worker's connection has it: prepared once, its plan kept."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        text, self.params = prepared_text("claim_jobs")
        with connection.transaction(force_rollback=True):
            connection.execute(load_statements()["pin_plans"])
            connection.execute(f"PREPARE claim AS {text}")

    def explain(self, **given: Any) -> Plan:
        """The plan and what a claim touched; nothing stays claimed.

        The second of two: the first may find that the table must grow for the row it writes.
        """
        values = ", ".join(literal((CLAIM | given)[name]) for name in self.params)
        self._run(values)
        return self._run(values)

    def _run(self, values: str) -> Plan:
        with self.connection.transaction(force_rollback=True):
            self.connection.execute(load_statements()["pin_plans"])
            found = self.connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE claim({values})"
            ).fetchone()
        assert found is not None
        return Plan(found[0])


@pytest.fixture
def claim(guild: GuildId, database_url: str) -> Iterator[PreparedClaim]:
    """Prepared, run and so planned while there is not one job."""
    write("VACUUM ANALYZE guildqueue_job, guildqueue_guild, guildqueue_job_dependency")
    # Without a threshold: after a ROLLBACK psycopg deallocates what it prepared, and this too.
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=None) as connection:
        prepared = PreparedClaim(connection)
        for _ in range(7):
            prepared.explain()
        yield prepared


def assert_flat(plan: Plan) -> None:
    """Every arm by its index in order; sorted is only what became due, and what lost its lease."""
    assert plan.buffers < 60
    assert plan.indexes >= CLAIM_INDEXES
    assert not plan.of_type("Seq Scan")
    assert not plan.of_type("Bitmap Heap Scan")
    assert_sorts_few(plan)


def assert_sorts_few(plan: Plan) -> None:
    for few in plan.of_type("Sort"):
        sorted_from = {
            node["Index Name"]
            for node in Plan([{"Plan": few}]).nodes()
            if node.get("Relation Name") == "guildqueue_job"
        }
        # The second also counts slots, once, inside the condition of what is sorted.
        assert sorted_from <= {"job_claim_deferred", "job_running_guild"}


def test_a_claim_among_20000_touches_what_it_touches_among_2000(
    guild: GuildId, claim: PreparedClaim
) -> None:
    fill(guild, 400)
    few = claim.explain()
    fill(guild, 3600)
    many = claim.explain()
    write("ANALYZE guildqueue_job")
    analysed = claim.explain()

    for plan in (few, many, analysed):
        assert_flat(plan)
    assert abs(many.buffers - few.buffers) <= 5
    assert abs(analysed.buffers - few.buffers) <= 5


def test_what_may_not_run_costs_the_claim_behind_it_nothing(
    guild: GuildId, claim: PreparedClaim
) -> None:
    fill(guild, 400)
    free = claim.explain()
    fill(guild, 1000, priority="-1", held="true")
    fill(guild, 1000, priority="-1", unmet="1")
    fill(guild, 1000, priority="-1", run_after="now() + interval '1 hour'")
    fill(guild, 1000, priority="-1", state="'done'", finished_at="now()")

    behind = claim.explain()

    assert_flat(behind)
    assert abs(behind.buffers - free.buffers) <= 5


def test_a_batch_is_claimed_without_a_sort_too(guild: GuildId, claim: PreparedClaim) -> None:
    fill(guild, 400)

    plan = claim.explain(count=10)

    assert plan.indexes >= CLAIM_INDEXES
    assert_sorts_few(plan)
    assert plan.buffers < 10 * 40


def test_a_held_guild_at_the_head_costs_less_than_a_page_a_job(
    guild: GuildId, claim: PreparedClaim
) -> None:
    held = stored_guild(MAGPIE)
    fill(guild, 400)
    fill(held, 1000, priority="-1")
    write("UPDATE guildqueue_guild SET held_at = now(), held_by = 'user:ada' WHERE id = %s", held)

    plan = claim.explain()

    assert plan.buffers < 5000
    assert_sorts_few(plan)


def test_each_running_job_costs_the_claim_at_most_a_page(
    guild: GuildId, claim: PreparedClaim
) -> None:
    fill(guild, 400)
    free = claim.explain()
    fill(
        guild,
        100,
        state="'running'",
        lease_by="'w'",
        lease_expires_at="now() + interval '1 hour'",
    )

    plan = claim.explain()

    assert plan.buffers <= free.buffers + 500


def test_the_claims_other_statements_keep_to_the_index_too(guild: GuildId) -> None:
    fill(guild, 4000)
    write("ANALYZE guildqueue_job")
    with transaction.atomic():
        claims.pin_plans()
        bury = explain("bury_lost_jobs")
        find = explain("find_first", **CLAIM, passed=[])

    assert bury.buffers < 10
    assert "job_running_guild" in bury.indexes
    assert find.buffers < 20
    assert find.indexes >= CLAIM_INDEXES


def beside_others(guild_id: GuildId) -> None:
    """A guild of 200 sessions beside one of 4,000, and history of both."""
    other = stored_guild(MAGPIE)
    fill(guild_id, 200)
    fill(other, 4000)
    for either in (guild_id, other):
        fill(either, 1000, state="'done'", finished_at="now() - interval '1 day'")
    write(
        "INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)"
        " SELECT guild_id, id, id - 1 FROM guildqueue_job WHERE id %% 5 = 0"
    )
    write("UPDATE guildqueue_job SET unmet = 1 WHERE id %% 5 = 0 AND state = 'pending'")
    write("ANALYZE")


SNAPSHOT = {"after": None, "default_cap": None, "n_events": 6}
GUILD_READS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("read_order", {}, 120),
    ("read_snapshot", {**SNAPSHOT, "only": None, "limit": 200, "n_finished": 50}, 4000),
    ("read_snapshot", {**SNAPSHOT, "only": 3, "limit": 1, "n_finished": 1}, 150),
    ("lock_outstanding", {"session_id": 3}, 15),
    ("still_outstanding", {"session_ids": [3, 4]}, 20),
    ("write_priorities", {"session_ids": [3, 4], "priorities": [1, 1]}, 400),
)


def test_a_guilds_reads_keep_to_what_is_outstanding_in_it(guild: GuildId) -> None:
    beside_others(guild)

    for name, params, most in GUILD_READS:
        plan = explain(name, guild_id=guild, **params)

        assert "job_outstanding" in plan.indexes, name
        assert not plan.scanned_whole("guildqueue_job"), name
        assert plan.buffers < most, name


WORKERS_WRITES: tuple[tuple[str, dict[str, Any], int], ...] = (
    (
        "complete_jobs",
        {
            "principal": "w",
            "jobs": [4],
            "tokens": [1],
            "results": ["{}"],
            "audio_seconds": [None],
        },
        120,
    ),
    ("extend_lease", {**HELD, "ttl_s": 60, "progress": 0.5}, 20),
    (
        "extend_leases",
        {"principal": "w", "jobs": [4], "tokens": [1], "progress": [0.5], "ttl_s": 60},
        25,
    ),
    ("read_inputs", {"job_id": 5}, 15),
    ("read_dependents", {"guild_id": STARLING, "job_ids": [4]}, 40),
)


def test_a_workers_writes_touch_a_handful_of_pages(guild: GuildId) -> None:
    beside_others(guild)
    write(
        "UPDATE guildqueue_job SET state = 'running', token = 1, lease_by = 'w',"
        " lease_expires_at = now() + interval '1 minute' WHERE id = 4"
    )

    for name, params, most in WORKERS_WRITES:
        explain(name, **params)  # the first run of a function also reads what it is made of
        plan = explain(name, **params)

        assert not plan.scanned_whole("guildqueue_job"), name
        assert plan.buffers < most, name


def test_a_page_of_the_ledger_is_read_from_its_newest(guild: GuildId) -> None:
    for guild_id, n_records in ((guild, 500), (MAGPIE, 5000)):
        write(
            "INSERT INTO guildqueue_queue_event (guild_id, at, type, by, changed, digest)"
            " SELECT %s, now(), 'Held', 'user:ada', '{}', '' FROM generate_series(1, %s)",
            guild_id,
            n_records,
        )
    write("ANALYZE guildqueue_queue_event")

    plan = explain("read_records", guild_id=guild, before=None, limit=50)

    assert "queue_event_newest" in plan.indexes
    assert plan.buffers < 60
