"""Jobs as JSON lines, each as ``POST /api/jobs`` takes it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import BIGINT_MAX, JobId, SessionId
from guildqueue.domain.json_lines import LineFault, parse_line
from guildqueue.domain.new_job import Need, NewJob, check_new_job


class JobLines(NamedTuple):
    """The jobs in their order, and the guild that they are said to be of, None for none."""

    jobs: list[NewJob]
    guild_id: int | None


def read_jobs(
    lines: Iterable[bytes], *, guild_id: int | None, defaults: Mapping[str, Any]
) -> JobLines:
    """What the lines say; blank ones are skipped.

    ``defaults`` are fields of NewJob for lines that do not say them. A line may name its guild,
    which must be ``guild_id``, or the same in all lines where that is None. Raises LineFault at
    the first line that could never be a job.
    """
    jobs: list[NewJob] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = dict(_fields(_parsed(line)))
            said = fields.pop("guild", guild_id)
            if guild_id not in (None, said):
                raise LineFault(f"guild is {said}, and all jobs of a call are of one: {guild_id}")
            guild_id = said
            jobs.append(_job({**defaults, **fields}))
        except (LineFault, InvalidInput) as fault:
            raise LineFault(f"line {number}: {fault}") from fault
    if not jobs:
        raise LineFault("holds no job")
    return JobLines(jobs, guild_id)


def _parsed(line: bytes) -> Any:
    try:
        return parse_line(line.decode())
    except UnicodeDecodeError as error:
        raise LineFault(f"not UTF-8 at byte {error.start}") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise LineFault(f"not JSON ({getattr(error, 'msg', 'nested too deeply')})") from error


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise LineFault("no JSON object")
    for name, item in value.items():
        if name not in _READ:
            raise LineFault(f"unknown field {name!r}; known: {', '.join(_READ)}")
        target, read = _READ[name]
        if item is not None or target not in _NULLABLE:
            item = read(name, item)  # noqa: PLW2901 - the same thing, read
        yield target, item


def _job(fields: dict[str, Any]) -> NewJob:
    for name in ("session", "kind"):
        if _READ[name][0] not in fields:
            raise LineFault(f"{name} is missing")
    job = NewJob(**fields)
    check_new_job(job)
    return job


def _id(name: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        number = int(value)
        if 1 <= number <= BIGINT_MAX:
            return number
    raise LineFault(f"{name} is no id, a string of digits")


def _session(name: str, value: object) -> SessionId:
    return SessionId(_id(name, value))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise LineFault(f"{name} is not text")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise LineFault(f"{name} is not a list")
    return tuple(_text(name, item) for item in value)


def _needs(name: str, value: object) -> tuple[Need, ...]:
    return tuple(
        JobId(int(text)) if text.isascii() and text.isdecimal() and len(text) < 20 else text
        for text in _texts(name, value)
    )


def _object(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LineFault(f"{name} is not an object")
    return value


def _moment(name: str, value: object) -> datetime:
    try:
        return datetime.fromisoformat(_text(name, value))
    except ValueError as error:
        raise LineFault(f"{name} is no ISO 8601 moment") from error


def _seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LineFault(f"{name} is not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise LineFault(f"{name} is not a finite number") from error


_NULLABLE = frozenset({"run_after", "external_id", "audio_seconds"})
_READ: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "guild": ("guild", _id),
    "session": ("session_id", _session),
    "kind": ("kind", _text),
    "assignee_kind": ("assignee_kind", _text),
    "payload": ("payload", _object),
    "needs": ("needs", _needs),
    "labels": ("labels", _texts),
    "run_after": ("run_after", _moment),
    "external_id": ("external_id", _text),
    "audio_seconds": ("audio_seconds", _seconds),
}
