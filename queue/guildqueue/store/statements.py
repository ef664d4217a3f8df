"""Named statements, read once from ``sql/*.sql``, and the one way to run them."""

import re
from collections import namedtuple
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection

_NAME = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)


@cache
def load_statements(folder: Path = Path(__file__).parent / "sql") -> Mapping[str, str]:
    """Every statement by name. Raises ValueError where a name stands twice."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.sql")):
        _, *parts = _NAME.split(path.read_text("utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise ValueError(f"{path.name}: statement {name!r} stands twice")
            found[name] = text.strip()
    return found


@cache
def _row_type(columns: tuple[str, ...]) -> Any:
    return namedtuple("Row", columns)


def rows(name: str, params: Mapping[str, Any]) -> list[Any]:
    """What the statement returns, one named tuple a row."""
    with connection.cursor() as cursor:
        cursor.execute(load_statements()[name], params)
        if cursor.description is None:
            return []
        make = _row_type(tuple(column.name for column in cursor.description))._make
        return [make(values) for values in cursor.fetchall()]


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
