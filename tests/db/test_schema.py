"""The schema and the statements: what every writer is held to, and that nothing is unused."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, transaction

import guildqueue
from guildqueue.domain.ids import GuildId
from guildqueue.domain.order import CLAIM_ORDER_COLUMNS
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.store.statements import load_statements
from tests.builders import (
    MAGPIE,
    cancelled_session,
    dead_session,
    done_session,
    stored_guild,
    stored_session,
)
from tests.db.races import query
from tests.db.stored import is_preparable, prepared_text, write

pytestmark = pytest.mark.usefixtures("committed_db")

# What breaks each constraint, as a SET clause of an UPDATE of the table's rows.
BROKEN: Mapping[str, tuple[str, str]] = {
    "guild_hold_is_whole": ("guild", "hold_reason = 'because'"),
    "guild_id_positive": ("guild", "id = 0"),
    "guild_cap_positive": ("guild", "running_cap = 0"),
    "session_hold_is_whole": ("session", "held_at = now()"),
    "session_title_given": ("session", "title = ''"),
    "job_lease_when_running": ("job", "state = 'running', lease_by = 'w'"),
    "job_named_in_lane": ("job", "bump_named = true"),
    "job_ended_left_lane": ("job", "state = 'done', finished_at = now(), bump_seq = 1"),
    "job_ended_has_moment": ("job", "state = 'dead'"),
    "job_kind_given": ("job", "kind = ''"),
    "job_unmet_not_negative": ("job", "unmet = -1"),
    "job_attempts_in_range": ("job", "attempt = -1"),
    "job_progress_is_fraction": ("job", "progress = 1.01"),
    "job_audio_measured_or_null": ("job", "audio_seconds = 'NaN'"),
    "job_dependency_other": ("job_dependency", "needs_id = job_id"),
}
MORE_BROKEN = (
    ("job_lease_when_running", "job", "lease_by = 'w', lease_expires_at = now()"),
    ("job_lease_when_running", "job", "state = 'running'"),
    ("job_ended_has_moment", "job", "finished_at = now()"),
    ("job_kind_given", "job", "state = ''"),
    ("job_attempts_in_range", "job", "max_attempts = 0"),
    ("job_progress_is_fraction", "job", "progress = -0.01"),
    ("job_progress_is_fraction", "job", "progress = 'NaN'"),
    ("job_audio_measured_or_null", "job", "audio_seconds = 'Infinity'"),
    ("job_audio_measured_or_null", "job", "audio_seconds = -1"),
    ("session_hold_is_whole", "session", "held_by = 'user:ada'"),
    ("guild_hold_is_whole", "guild", "held_at = now()"),
)

# What the migration makes of it is there in each database.
FUNCTIONS = Path(guildqueue.__file__).parent / "migrations" / "sql"


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def test_the_models_are_the_sum_of_the_migrations() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_migrations_go_back_and_forth_again(guild: GuildId) -> None:
    with transaction.atomic():
        call_command("migrate", "guildqueue", "0001", verbosity=0)
        call_command("migrate", "guildqueue", verbosity=0)


@pytest.mark.parametrize(
    ("constraint", "table", "change"),
    [(name, table, change) for name, (table, change) in BROKEN.items()] + list(MORE_BROKEN),
)
def test_the_schema_refuses_what_can_never_be(
    guild: GuildId, constraint: str, table: str, change: str
) -> None:
    stored_session(guild)
    write("SET CONSTRAINTS ALL IMMEDIATE")

    with pytest.raises(IntegrityError, match=constraint):
        write(f"UPDATE guildqueue_{table} SET {change}")  # noqa: S608


def test_every_check_has_its_proof() -> None:
    found = query(
        "SELECT conname FROM pg_constraint WHERE contype = 'c'"
        " AND conrelid::regclass::text LIKE 'guildqueue_%%'"
    )

    assert {name for (name,) in found} == set(BROKEN)


def test_a_job_cannot_sit_in_another_guilds_session(guild: GuildId) -> None:
    stored_session(guild)
    stored_guild(MAGPIE)

    with pytest.raises(IntegrityError, match="job_session_of_guild"):
        write("UPDATE guildqueue_job SET guild_id = %s", MAGPIE)


def test_a_newer_releases_state_and_kind_can_be_stored(guild: GuildId) -> None:
    stored_session(guild)

    write("UPDATE guildqueue_job SET state = 'paused', kind = 'translate'")
    write("UPDATE guildqueue_job SET state = 'archived', finished_at = now()")


def counters(guild_id: GuildId) -> dict[str, int]:
    """What the counting steps add up to; a state at 0 is left out."""
    found = query(
        "SELECT state, sum(delta)::int FROM guildqueue_guild_count WHERE guild_id = %s"
        " GROUP BY state HAVING sum(delta) <> 0",
        [guild_id],
    )
    return dict(found)


def counted(guild_id: GuildId) -> dict[str, int]:
    """The same, counted over the jobs."""
    found = query(
        "SELECT state, count(*)::int FROM guildqueue_job"
        " WHERE guild_id = %s AND state NOT IN ('pending', 'running') GROUP BY state",
        [guild_id],
    )
    return dict(found)


def test_counters_follow_every_writer(guild: GuildId) -> None:
    done_session(guild, n_tracks=2)
    dead = dead_session(guild, n_tracks=2)
    cancelled_session(guild)
    stored_session(guild)
    assert counters(guild) == counted(guild) == {"done": 4, "dead": 1, "cancelled": 2}

    write("UPDATE guildqueue_job SET state = 'archived' WHERE state = 'cancelled'")
    write("UPDATE guildqueue_job SET state = 'done' WHERE state = 'dead'")
    write("UPDATE guildqueue_job SET progress = 0.5 WHERE state = 'done'")
    write(
        "DELETE FROM guildqueue_job_dependency WHERE job_id IN (SELECT id FROM guildqueue_job"
        " WHERE session_id = %s)",
        dead,
    )
    write("DELETE FROM guildqueue_job WHERE session_id = %s", dead)

    assert counters(guild) == counted(guild) == {"done": 3, "archived": 2}
    counts = queue_snapshot(guild).counts
    assert (counts.done, counts.dead, counts.cancelled, counts.other) == (3, 0, 0, 2)


def test_counting_is_undone_with_its_transaction(guild: GuildId) -> None:
    stored_session(guild)

    with transaction.atomic():
        write("UPDATE guildqueue_job SET state = 'cancelled', finished_at = now()")
        transaction.set_rollback(True)

    assert counters(guild) == {}


def test_a_statement_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("-- name: read_it\nSELECT 1;\n")
    (tmp_path / "b.sql").write_text("-- name: read_it\nSELECT 2;\n")

    with pytest.raises(ValueError, match="'read_it' stands twice"):
        load_statements(tmp_path)


def test_a_part_stands_in_every_statement_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "-- part: tail\n-- What it says.\nFROM t;\n"
        "-- name: one\nSELECT 1\n-- include: tail\n-- name: two\nSELECT 2\n-- include: tail\n"
    )

    assert load_statements(tmp_path) == {"one": "SELECT 1\nFROM t;", "two": "SELECT 2\nFROM t;"}


def test_every_statement_prepares() -> None:
    refused = {}
    for name in load_statements():
        text, _ = prepared_text(name)
        if not is_preparable(text):
            continue
        try:
            query(f"PREPARE {name} AS {text}", None)
        except DatabaseError as error:
            refused[name] = str(error)

    assert refused == {}


def store_sources() -> str:
    folder = Path(guildqueue.__file__).parent / "store"
    return "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))


def test_every_statement_is_used_and_every_use_is_a_statement() -> None:
    run = r"\b(?:rows|row|sole|execute|copy)\(\s*\"(\w+)\""
    text = r"load_statements\(\)\[\"(\w+)\"\]"
    used = {one or other for one, other in re.findall(f"{run}|{text}", store_sources())}

    assert used == set(load_statements())


def test_every_index_that_a_statement_names_is_there() -> None:
    texts = "\n".join(load_statements().values())
    named = set(
        re.findall(
            r"\b((?:job|guild|queue|session|administrator)_\w+)[,.;]?",
            " ".join(line for line in texts.splitlines() if line.startswith("-- Index:")),
        )
    )
    there = {name for (name,) in query("SELECT indexname FROM pg_indexes")}

    assert named
    assert named <= there


def columns_of(index: str) -> tuple[str, ...]:
    (definition,) = query("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [index])[0]
    between = re.search(r"\((.*?)\)", definition)
    assert between is not None
    return tuple(between[1].split(", "))


def test_the_claim_its_indexes_and_the_domain_spell_one_order() -> None:
    claim = load_statements()["claim_jobs"]
    orders = [
        tuple(column.removeprefix("line.") for column in re.split(r",\s*", order))
        for order in re.findall(r"ORDER BY ((?:\w+\.)?bump_seq[\w., ]*?)\)?\n", claim)
    ]

    assert len(orders) >= 4
    assert set(orders) == {CLAIM_ORDER_COLUMNS}
    assert columns_of("job_claim") == columns_of("job_lost_lane") == CLAIM_ORDER_COLUMNS
    for name in ("job_turn", "job_running_guild", "job_lost"):
        assert columns_of(name) == ("guild_id", *CLAIM_ORDER_COLUMNS)


def test_the_claim_in_turns_filters_as_every_other_statement_does() -> None:
    """As a migration does not change, its functions have a copy of their own: word for word."""
    text = " ".join(load_statements(FUNCTIONS)["claim_locks_1"].split())
    listed = load_statements()["count_held"]
    scope = " ".join(listed[listed.index("(%(kinds)s") : listed.index("GROUP BY")].split())

    wanted = re.sub(r"%\((\w+)\)s::[a-z]+(?:\[\])?", r"p_scope.\1", scope)

    assert text.count(wanted) == 4
    assert text.count("(p_scope.kinds IS NULL") == 4
