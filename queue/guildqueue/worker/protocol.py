"""What a worker and its handler process say to each other: a line of JSON each time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from guildqueue.worker.handler import HandlerInput, HandlerWork

LARGEST_RESULT_BYTES = 64 * 1024

# What is JSON as text. Raises TypeError or ValueError for what is not. Made once: dumps() with
# options makes an encoder each time.
to_json = json.JSONEncoder(allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the handler is, 0.0 to 1.0."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Dropped:
    """The job was not begun, and will not be."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a handler gave back."""

    result: dict[str, Any]
    audio_seconds: float | None


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a handler gave nothing back: one line for people, the traceback for the log."""

    reason: str
    permanent: bool = False
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why this worker cannot do such jobs."""

    reason: str
    traceback: str = ""


Outcome = Done | Failed | Unfit
Word = Progress | Dropped | Outcome


class Report(NamedTuple):
    """What a handler process says of one of its jobs."""

    job_id: int
    word: Word


class Order(NamedTuple):
    """Run the function at dotted path ``handler`` on ``work``."""

    handler: str
    work: HandlerWork


class Drop(NamedTuple):
    """Do not begin those of the jobs that are not begun."""

    job_ids: frozenset[int]


_WORDS: dict[str, type[Word]] = {
    "progress": Progress,
    "dropped": Dropped,
    "done": Done,
    "failed": Failed,
    "unfit": Unfit,
}
_NAMES = {made: name for name, made in _WORDS.items()}
# Not ``asdict``, which copies all that is in a payload or a result.
_FIELDS = {
    made: [field.name for field in fields(made)]
    for made in (HandlerWork, HandlerInput, Progress, Dropped, Done, Failed, Unfit)
}


def encode_orders(orders: Iterable[Order]) -> bytes:
    """The orders, to be carried out one after the other."""
    return _packed({"orders": [(handler, _work_fields(work)) for handler, work in orders]})


def encode_drop(drop: Drop) -> bytes:
    """The word that takes orders back."""
    return _packed({"drop": sorted(drop.job_ids)})


def decode_order(message: bytes) -> list[Order] | Drop:
    """What a handler process is to do, or not to do any more."""
    ((kind, said),) = json.loads(message).items()
    if kind == "drop":
        return Drop(frozenset(said))
    return [Order(handler, _work(given)) for handler, given in said]


def encode_report(report: Report) -> bytes:
    """A handler process's word. Raises TypeError or ValueError for what is not JSON."""
    made = type(report.word)
    return _packed({"job": report.job_id, _NAMES[made]: _fields(report.word)})


def decode_report(message: bytes) -> Report:
    """What a handler process said."""
    said = json.loads(message)
    job_id = said.pop("job")
    ((kind, given),) = said.items()
    return Report(job_id, _WORDS[kind](**given))


def _work(given: dict[str, Any]) -> HandlerWork:
    inputs = tuple(HandlerInput(**each) for each in given.pop("inputs"))
    return HandlerWork(inputs=inputs, **given)


def _work_fields(work: HandlerWork) -> dict[str, Any]:
    return _fields(work) | {"inputs": [_fields(given) for given in work.inputs]}


def _fields(value: Word | HandlerWork | HandlerInput) -> dict[str, Any]:
    return {name: getattr(value, name) for name in _FIELDS[type(value)]}


def _packed(value: dict[str, Any]) -> bytes:
    return to_json(value).encode("ascii") + b"\n"
