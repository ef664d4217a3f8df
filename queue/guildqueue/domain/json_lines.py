"""JSON lines, read strictly: what two readers could take for two things is refused."""

import json
from collections import Counter
from typing import Any, NoReturn


class LineFault(ValueError):
    """What is wrong with a line, which its text names."""


def parse_line(line: str) -> Any:
    """The value that the line spells.

    Raises json.JSONDecodeError or RecursionError for what is no JSON, LineFault for a name given
    twice, NaN, infinities, and numbers of thousands of digits.
    """
    try:
        return json.loads(line, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (json.JSONDecodeError, LineFault):
        raise
    except ValueError as error:
        raise LineFault("holds a number too long to be one") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        name = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise LineFault(f"says {name!r} twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise LineFault(f"{name} is not a JSON number")
