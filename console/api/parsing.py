"""Request bodies as strict JSON: what two readers could take for two things is refused."""

import json
import math
from collections.abc import Iterable
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja.parser import Parser

MAX_DEPTH = 32


class MalformedJson(ValueError):
    """A body that is no JSON, or JSON that no two readers read alike; the text says where."""


class NotJson(ValueError):
    """A body that says it is something else than JSON."""


class StrictParser(Parser):
    """The parser of every body: ninja calls it where there is one."""

    def parse_body(self, request: HttpRequest) -> Any:
        check_content_type(request)
        return parse_json(request.body)


def check_content_type(request: HttpRequest) -> None:
    """Raises NotJson for a body of another type; none named is taken for JSON."""
    if request.body and request.content_type not in ("application/json", ""):
        raise NotJson("the body must be application/json")


def parse_json(body: bytes) -> Any:
    """The value that ``body`` spells.

    Beyond what json refuses: a key given twice, NaN and infinities, numbers past a float's
    range, NUL and halves of surrogate pairs, and nesting deeper than MAX_DEPTH.
    Raises MalformedJson.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise MalformedJson(f"nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeDecodeError as error:
        raise MalformedJson(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise MalformedJson(f"no JSON: {error}") from None
    except ValueError as error:
        # A number of thousands of digits is a plain ValueError.
        raise error if isinstance(error, MalformedJson) else MalformedJson("no JSON") from None
    _check_texts(value)
    return value


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise MalformedJson(f"the field {name[:80]!a} stands twice")
        found[name] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedJson(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise MalformedJson("a number is out of range")
    return number


def _check_texts(value: Any) -> None:
    """Refuse what no text column holds, anywhere in ``value``, and too deep a nesting."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, str):
                _check_text(item)
            elif isinstance(item, dict):
                below += [*item, *item.values()]
            elif isinstance(item, list):
                below += item
        if not below:
            return
        level = below
    raise MalformedJson(f"nested deeper than {MAX_DEPTH} levels")


def _check_text(text: str) -> None:
    if "\0" in text:
        raise MalformedJson("text may not hold NUL")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise MalformedJson("text may not hold half a surrogate pair")
