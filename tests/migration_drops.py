"""What a migration takes from a release that still runs, and which record allows it.

Taken is what a statement of that release names or leaves out: a column, table, view, sequence,
type, enum value, or the value that an INSERT may omit. Indexes and constraints may go. What is
not known to leave all in place counts as taken.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from django.contrib.postgres import operations as postgres
from django.db import connection
from django.db.migrations import operations as ops
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field

HARMLESS = (
    ops.CreateModel,
    ops.AddIndex,
    ops.RemoveIndex,
    ops.RenameIndex,
    ops.AddConstraint,
    ops.RemoveConstraint,
    ops.AlterConstraint,
    ops.AlterModelOptions,
    ops.AlterModelManagers,
    ops.AlterModelTableComment,
    postgres.AddIndexConcurrently,
    postgres.RemoveIndexConcurrently,
    postgres.AddConstraintNotValid,
    postgres.ValidateConstraint,
    postgres.CreateExtension,
)
WIDENINGS = {
    ("smallint", "integer"),
    ("smallint", "bigint"),
    ("integer", "bigint"),
    ("real", "double precision"),
}
_VARCHAR = re.compile(r"varchar\((\d+)\)")

# Strings come first, so that what looks like a comment in one is kept.
_STRING_OR_COMMENT = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(--[^\n]*|/\*.*?\*/)", re.DOTALL
)
_TAKING_SQL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bDROP\s+(?!(INDEX|CONSTRAINT|TRIGGER|POLICY|STATISTICS|EXPRESSION|NOT\s+NULL)\b)\S+",
        r"\bRENAME\s+(?!CONSTRAINT\b)\S+",
        r"\bSET\s+(SCHEMA\b|NOT\s+NULL\b)",
        r"\bALTER\s+(COLUMN\s+)?(\w+|\"[^\"]+\")\s+(SET\s+DATA\s+)?TYPE\b",
        r"\bALTER\s+TYPE\b(?!.*\bADD\s+(VALUE|ATTRIBUTE)\b)",
    )
)
# A comma in parentheses does not end a column.
_ADDED_COLUMN = re.compile(
    r"\bADD\s+(?!CONSTRAINT\b|PRIMARY\s+KEY\b)(?:[^,(]|\([^)]*\))+", re.IGNORECASE
)
_IN_PARENTHESES = re.compile(r"\([^)]*\)")
_NOT_NULL = re.compile(r"\bNOT\s+NULL\b|\bPRIMARY\s+KEY\b", re.IGNORECASE)
_OMISSIBLE = re.compile(r"\b(DEFAULT|GENERATED|USING|\w*SERIAL)\b", re.IGNORECASE)
_INDEX_STATEMENT = re.compile(r"\s*ALTER\s+INDEX\b", re.IGNORECASE)
_TAKING_CALL = re.compile(r"\.(remove_field|delete_model|alter_field|alter_db_table)\(")

_PROCESSES = r"\b(worker|console|command|client|process)(s|es)?\b"
_NEGATIVE = re.compile(
    r"\b(no|not|never|none|neither|nor|nothing|without|cannot)\b|n't", re.IGNORECASE
)


def find_taken(operations: Iterable[Operation], app_label: str, before: ProjectState) -> list[str]:
    """A phrase for each thing that a migration takes, ``before`` being the models until then."""
    state = before.clone()
    taken: list[str] = []
    for operation in operations:
        if not isinstance(operation, HARMLESS):
            taken += _taken_by(operation, app_label, state)
        operation.state_forwards(app_label, state)
    return taken


def _taken_by(operation: Operation, app_label: str, state: ProjectState) -> Iterator[str]:
    if isinstance(operation, ops.SeparateDatabaseAndState):
        yield from find_taken(operation.database_operations, app_label, state)
    elif isinstance(operation, ops.RunSQL):
        for text in _sql_texts(operation.sql):
            yield from find_taken_in_sql(text)
    elif isinstance(operation, ops.RunPython):
        yield from _taken_by_python(inspect.getsource(operation.code))
    elif isinstance(operation, ops.AddField):
        if not _is_omissible(operation.field):
            yield f"an INSERT without {operation.model_name}.{operation.name}"
    elif isinstance(operation, ops.AlterField):
        yield from _taken_by_alteration(operation, app_label, state)
    else:
        yield operation.describe()


def _is_omissible(field: Field) -> bool:  # type: ignore[type-arg]
    """Whether an INSERT may leave the field out. Django drops the ``default`` of Python again."""
    return (
        field.many_to_many
        or field.null
        or field.primary_key
        or field.generated
        or field.db_default is not NOT_PROVIDED
    )


def _taken_by_alteration(
    operation: ops.AlterField, app_label: str, state: ProjectState
) -> Iterator[str]:
    old = state.apps.get_model(app_label, operation.model_name)._meta.get_field(operation.name)
    after = state.clone()
    operation.state_forwards(app_label, after)
    new = after.apps.get_model(app_label, operation.model_name)._meta.get_field(operation.name)
    assert isinstance(old, Field)
    assert isinstance(new, Field)
    name = f"{operation.model_name}.{operation.name}"
    if old.column != new.column:
        yield f"the column of {name}"
    was, becomes = old.db_type(connection), new.db_type(connection)
    if was != becomes and not _is_wider(was or "", becomes or ""):
        yield f"the type of {name}: {was} becomes {becomes}"
    if old.null and not new.null:
        yield f"NULL in {name}"
    if _is_omissible(old) and not _is_omissible(new):
        yield f"an INSERT without {name}"


def _is_wider(was: str, becomes: str) -> bool:
    length, longer = _VARCHAR.fullmatch(was), _VARCHAR.fullmatch(becomes)
    if length and longer:
        return int(length[1]) <= int(longer[1])
    return (was, becomes) in WIDENINGS or bool(length and becomes in {"text", "varchar"})


def _sql_texts(sql: object) -> Iterator[str]:
    """Each statement of a RunSQL, which is a text or a list of texts and (text, params)."""
    if isinstance(sql, str):
        yield sql
    elif isinstance(sql, list | tuple):
        for item in sql:
            yield str(item if isinstance(item, str) else item[0])


def find_taken_in_sql(text: str) -> list[str]:
    """The words of each statement that take something; also where a function's body has them."""
    bare = _STRING_OR_COMMENT.sub(lambda found: " " if found[1] else found[0], text)
    return [
        " ".join(words.split())
        for statement in bare.split(";")
        if not _INDEX_STATEMENT.match(statement)
        for words in _taking_words(statement)
    ]


def _taking_words(statement: str) -> Iterator[str]:
    for pattern in _TAKING_SQL:
        for found in pattern.finditer(statement):
            # A temporary table of the migration's own takes itself away.
            if not statement[: found.start()].rstrip().upper().endswith("ON COMMIT"):
                yield found[0]
    for column in _ADDED_COLUMN.findall(statement):
        words = _IN_PARENTHESES.sub("", column)
        if _NOT_NULL.search(words) and not _OMISSIBLE.search(words):
            yield column


def _taken_by_python(source: str) -> Iterator[str]:
    yield from find_taken_in_sql(source)
    for call in _TAKING_CALL.finditer(source):
        yield call[1]


def is_allowed(name: str, records: Mapping[str, str]) -> bool:
    """Whether an accepted record names the migration in a sentence that says what to drain first.

    The sentence has the migration's whole name, "drain", the kind of process, and "before". One
    with a negation does not count: "no worker need be drained" allows nothing.
    """
    return any(
        _says_what_to_drain(sentence, name)
        for record in records.values()
        if re.search(r"^Status: accepted\b", record, re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n|\n(?=\s*[*-] )", record)
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split()))
    )


def _says_what_to_drain(sentence: str, name: str) -> bool:
    wanted = (rf"(?<!\w){re.escape(name)}(?!\w)", r"\bdrain", _PROCESSES, r"\bbefore\b")
    return all(re.search(pattern, sentence, re.IGNORECASE) for pattern in wanted) and not (
        _NEGATIVE.search(sentence)
    )


def read_records(folder: Path) -> dict[str, str]:
    """The decision records by their file names."""
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
