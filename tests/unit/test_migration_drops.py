"""Migrations take nothing from a release that still runs, unless a record says what to drain."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations as m
from django.db import models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from tests.migration_drops import find_taken, find_taken_in_sql, is_allowed, read_records

PROJECT = Path(settings.BASE_DIR)
MIGRATIONS = PROJECT / "queue" / "guildqueue" / "migrations"
CARD = "0007_drop_card"
DRAINED = f"Status: accepted\n\nDrain every worker of release 1\nbefore `{CARD}` runs.\n"


def taken_by(before: ProjectState, *operations: Operation) -> list[str]:
    return find_taken(operations, "cards", before)


@pytest.fixture
def before() -> ProjectState:
    """A table of cards as the release that still runs knows it."""
    created = m.CreateModel(
        "Card",
        [
            ("id", models.BigAutoField(primary_key=True)),
            ("name", models.CharField(max_length=20)),
            ("note", models.TextField(null=True)),
            ("rank", models.IntegerField(db_default=0)),
        ],
    )
    state = ProjectState()
    created.state_forwards("cards", state)
    return state


def read_cards(apps: Any, schema_editor: Any) -> None:
    """A data migration."""


def drop_cards(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP TABLE cards_card")


def forget_cards(apps: Any, schema_editor: Any) -> None:
    schema_editor.delete_model(apps.get_model("cards", "Card"))


class Unknown(Operation):
    """An operation of some package, of which nobody knows what it does."""

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass


def altered(name: str, field: "models.Field[Any, Any]") -> Operation:
    return m.AlterField("card", name, field)


def described(operation: Operation) -> str:
    """Its words, without the address of a function, which is another in each process."""
    return re.sub(r" at 0x[0-9a-f]+", "", operation.describe())


@pytest.mark.parametrize(
    "operation",
    [
        m.RemoveField("card", "note"),
        m.DeleteModel("Card"),
        m.RenameField("card", "note", "remark"),
        m.RenameModel("Card", "Ticket"),
        m.AlterModelTable("card", "tickets"),
        m.AlterOrderWithRespectTo("card", "name"),
        altered("name", models.CharField(max_length=19)),
        altered("rank", models.SmallIntegerField(db_default=0)),
        altered("rank", models.TextField(db_default="")),
        altered("note", models.TextField()),
        altered("note", models.TextField(default="")),
        altered("note", models.TextField(null=True, db_column="remark")),
        altered("rank", models.IntegerField(default=0)),
        m.AddField("card", "suit", models.TextField()),
        m.AddField("card", "suit", models.TextField(default="hearts")),
        m.RunSQL("DROP TABLE cards_card", "DROP nothing"),
        m.RunSQL(["SELECT 1", ("DROP VIEW %s", ["all_cards"])]),
        m.RunPython(drop_cards),
        m.RunPython(forget_cards),
        m.SeparateDatabaseAndState([m.RemoveField("card", "note")]),
        Unknown(),
    ],
    ids=described,
)
def test_what_a_running_release_uses_is_missed(before: ProjectState, operation: Operation) -> None:
    assert taken_by(before, operation)


@pytest.mark.parametrize(
    "operation",
    [
        m.CreateModel("Deck", [("id", models.BigAutoField(primary_key=True))]),
        m.AddField("card", "suit", models.TextField(null=True)),
        m.AddField("card", "suit", models.TextField(db_default="hearts")),
        altered("name", models.CharField(max_length=20, help_text="on its face")),
        altered("name", models.CharField(max_length=21)),
        altered("name", models.TextField()),
        altered("name", models.CharField(max_length=20, null=True)),
        altered("rank", models.BigIntegerField(db_default=1)),
        m.AddIndex("card", models.Index(fields=["rank"], name="by_rank")),
        m.AddConstraint(
            "card", models.CheckConstraint(condition=models.Q(rank__gte=0), name="ranked")
        ),
        m.RunSQL("CREATE TABLE deck (id bigint)", "DROP TABLE deck"),
        m.RunSQL(m.RunSQL.noop),
        m.RunPython(read_cards),
        m.SeparateDatabaseAndState([], [m.RemoveField("card", "note")]),
    ],
    ids=described,
)
def test_what_is_added_or_widened_is_not(before: ProjectState, operation: Operation) -> None:
    assert taken_by(before, operation) == []


def test_indexes_and_constraints_may_go(before: ProjectState) -> None:
    index = models.Index(fields=["rank"], name="by_rank")
    check = models.CheckConstraint(condition=models.Q(rank__gte=0), name="ranked")
    added = [m.AddIndex("card", index), m.AddConstraint("card", check)]

    dropped = [m.RemoveIndex("card", "by_rank"), m.RemoveConstraint("card", "ranked")]
    assert taken_by(before, *added, *dropped) == []
    assert taken_by(before, added[0], RemoveIndexConcurrently("card", "by_rank")) == []


def test_each_operation_is_judged_by_what_those_before_it_left(before: ProjectState) -> None:
    wider, as_before = models.CharField(max_length=40), models.CharField(max_length=20)

    taken = taken_by(before, altered("name", wider), altered("name", as_before))

    assert taken == ["the type of card.name: varchar(40) becomes varchar(20)"]
    assert taken_by(before, altered("name", as_before)) == []


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE IF EXISTS a",
        "drop\n  materialized view a",
        "DROP SEQUENCE a",
        "DROP TYPE a",
        "DROP FUNCTION a()",
        "DROP SCHEMA a CASCADE",
        "DROP /* all of */ TABLE a",
        "SELECT 'it''s -- so'; DROP TABLE a",
        "DO $$ BEGIN EXECUTE 'DROP TABLE a'; END $$",
        "ALTER TABLE a DROP COLUMN b",
        "ALTER TABLE a DROP b",
        'ALTER TABLE a DROP CONSTRAINT c, DROP "b"',
        "ALTER TABLE a ALTER b DROP DEFAULT",
        "ALTER TABLE a ALTER COLUMN b DROP IDENTITY",
        "ALTER TABLE a RENAME TO b",
        "ALTER TABLE a RENAME COLUMN b TO c",
        "ALTER TABLE a RENAME b TO c",
        "ALTER VIEW a RENAME TO b",
        "ALTER TABLE a SET SCHEMA old",
        "ALTER TABLE a ALTER COLUMN b TYPE smallint",
        'ALTER TABLE a ALTER "b" SET DATA TYPE smallint',
        "ALTER TABLE a ALTER b SET NOT NULL",
        "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'",
        "ALTER TYPE pair DROP ATTRIBUTE b",
        "ALTER TABLE a ADD COLUMN b text NOT NULL",
        "ALTER TABLE a ADD COLUMN c text DEFAULT 'x', ADD b numeric(3, 1) NOT NULL",
    ],
)
def test_sql_that_takes_is_found(text: str) -> None:
    assert find_taken_in_sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "DROP INDEX CONCURRENTLY IF EXISTS a",
        "DROP TRIGGER a ON b",
        "ALTER TABLE a DROP CONSTRAINT b",
        "ALTER TABLE a RENAME CONSTRAINT b TO c",
        "ALTER TABLE a ALTER b DROP NOT NULL",
        "ALTER TABLE a ALTER b SET DEFAULT 1",
        "ALTER INDEX a RENAME TO b",
        "ALTER TYPE mood ADD VALUE 'calm'",
        "ALTER TABLE a ADD COLUMN b text",
        "ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''",
        "ALTER TABLE a ADD COLUMN b numeric(3, 1) DEFAULT 0 NOT NULL, ADD c text",
        "ALTER TABLE a ADD CONSTRAINT b CHECK (c IS NOT NULL)",
        "ALTER TABLE a SET (fillfactor = 80)",
        "CREATE TYPE mood AS ENUM ('sad'); CREATE SEQUENCE b",
        "CREATE TEMPORARY TABLE a (b int) ON COMMIT DROP",
        "-- DROP TABLE a\nSELECT 1 /* DROP\n VIEW b */",
    ],
)
def test_sql_that_takes_nothing_is_let_through(text: str) -> None:
    assert find_taken_in_sql(text) == []


@pytest.mark.parametrize(
    "record",
    [
        DRAINED,
        f"Status: accepted\n\n* `{CARD}.py` is fine.\n* All consoles are drained before {CARD}.py.",
    ],
)
def test_a_record_that_says_what_to_drain_allows_a_migration(record: str) -> None:
    assert is_allowed(CARD, {"0009.md": record})


@pytest.mark.parametrize(
    "record",
    [
        DRAINED.replace("accepted", "proposed"),
        DRAINED.replace(CARD, CARD + "_later"),
        DRAINED.replace(CARD, "0007"),
        DRAINED.replace("Drain", "Watch"),
        DRAINED.replace("every worker of release 1", "everything"),
        DRAINED.replace("before", "after"),
        DRAINED.replace("Drain every worker", "Do not drain any worker"),
        f"Status: accepted\n\nSee {CARD}. Drain every worker before it runs.",
        f"Status: accepted\n\n* {CARD} drops the cards\n* drain every worker before it",
    ],
)
def test_any_other_record_does_not(record: str) -> None:
    assert not is_allowed(CARD, {"0009.md": record})


def unallowed(records: dict[str, str], found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: taken for name, taken in found.items() if taken and not is_allowed(name, records)}


def test_a_migration_fails_until_a_record_allows_it(before: ProjectState) -> None:
    found = {CARD: taken_by(before, m.RemoveField("card", "note"))}

    assert unallowed({}, found) == {CARD: ["Remove field note from card"]}
    assert unallowed({"0009.md": DRAINED}, found) == {}


def real_migrations() -> dict[str, list[str]]:
    """What each of the project's migrations takes, by its name."""
    loader = MigrationLoader(None)
    assert loader.disk_migrations is not None
    return {
        name: find_taken(made.operations, app, loader.project_state((app, name), at_end=False))
        for (app, name), made in sorted(loader.disk_migrations.items())
        if app == "guildqueue"
    }


def test_no_migration_takes_anything_that_no_record_allows() -> None:
    found = real_migrations()

    assert set(found) == {path.stem for path in MIGRATIONS.glob("[0-9]*.py")}
    assert unallowed(read_records(PROJECT / "docs" / "decisions"), found) == {}
