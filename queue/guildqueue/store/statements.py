"""Named statements, read once from ``sql/*.sql``, and the one way to run them."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection
from psycopg import sql
from psycopg.pq import Format
from psycopg.rows import namedtuple_row

_HEADING = re.compile(r"^-- (name|part): (\w+)[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r"^-- include: (\w+)[ \t]*$", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^\s*--[^\n]*(?:\n|\Z)", re.MULTILINE)
_PARAMETER = re.compile(r"%\((\w+)\)s")
_COMMENT = re.compile(r"\A(?:--[^\n]*\n)+")


@cache
def load_statements(folder: Path = Path(__file__).parent / "sql") -> Mapping[str, str]:
    """Every statement by name.

    A line ``-- include: NAME`` stands for the text of the part of that name, so that claims
    which differ in their candidates share the rest. Raises ValueError where a name stands
    twice, KeyError where a part that is included does not stand at all.
    """
    found: dict[str, dict[str, str]] = {"name": {}, "part": {}}
    for path in sorted(folder.glob("*.sql")):
        _, *pieces = _HEADING.split(path.read_text("utf-8"))
        for kind, name, text in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
            if name in found["name"] or name in found["part"]:
                raise ValueError(f"{path.name}: statement {name!r} stands twice")
            found[kind][name] = text.strip()
    return {name: _with_parts(text, found["part"]) for name, text in found["name"].items()}


def _with_parts(text: str, parts: Mapping[str, str]) -> str:
    return _INCLUDE.sub(lambda line: _with_parts(_COMMENT.sub("", parts[line[1]]), parts), text)


def rows(name: str, params: Mapping[str, Any], *, format: Format = Format.TEXT) -> list[Any]:  # noqa: A002
    """What the statement returns, one named tuple a row.

    In the BINARY ``format`` wide rows take a third of the time. Then jsonb is parsed, and a type
    that the driver has no binary reader for stays bytes.
    """
    with connection.cursor() as cursor:
        cursor.cursor.row_factory = namedtuple_row
        cursor.cursor.format = format
        cursor.execute(load_statements()[name], params)
        return [] if cursor.rownumber is None else cursor.fetchall()


def array(items: Iterable[Any]) -> str:
    """An array as the text that the statement casts, made in a third of the driver's time."""
    return "{" + ",".join(map(_element, items)) + "}"


def _element(item: Any) -> str:
    if item is None:
        return "NULL"
    text = str(item).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def row(name: str, params: Mapping[str, Any]) -> Any | None:
    """The only row, or None. Raises ValueError if there are more."""
    found = rows(name, params)
    if len(found) > 1:
        raise ValueError(f"statement {name!r} returned {len(found)} rows, not one")
    return found[0] if found else None


def sole(name: str, params: Mapping[str, Any]) -> Any:
    """The one row that the statement always returns. Raises LookupError if it did not."""
    found = row(name, params)
    if found is None:
        raise LookupError(f"statement {name!r} returned no row")
    return found


def execute(name: str, params: Mapping[str, Any]) -> int:
    """How many rows the statement touched."""
    with connection.cursor() as cursor:
        cursor.execute(load_statements()[name], params)
        return int(cursor.rowcount)


def filled_in(name: str, params: Mapping[str, Any]) -> str:
    """The statement with its parameters as literals, without comments: for who has none."""
    text = _COMMENT_LINE.sub("", load_statements()[name])
    return _PARAMETER.sub(lambda found: sql.Literal(params[found[1]]).as_string(), text)


def copy(name: str, values: Iterable[tuple[Any, ...]]) -> None:
    """Write each tuple as a row, by the named COPY FROM STDIN."""
    with connection.cursor() as cursor, cursor.copy(load_statements()[name]) as writing:
        for row_values in values:
            writing.write_row(row_values)
