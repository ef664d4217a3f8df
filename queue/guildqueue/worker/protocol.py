"""What a worker and its handler process say to each other: JSON, as either may be the newer."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from guildqueue.worker.handler import HandlerInput, HandlerWork

LONGEST_BYTES = 1024 * 1024
LARGEST_RESULT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the handler is, 0.0 to 1.0."""

    fraction: float


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
_KINDS: dict[str, type[Progress | Done | Failed | Unfit]] = {
    "progress": Progress,
    "done": Done,
    "failed": Failed,
    "unfit": Unfit,
}


def encode_work(handler: str, work: HandlerWork) -> bytes:
    """The order to run the function at dotted path ``handler`` on ``work``."""
    return _packed({"handler": handler, "work": asdict(work)})


def decode_work(message: bytes) -> tuple[str, HandlerWork]:
    """The function's dotted path and its work."""
    order = json.loads(message)
    inputs = tuple(HandlerInput(**given) for given in order["work"].pop("inputs"))
    return str(order["handler"]), HandlerWork(inputs=inputs, **order["work"])


def encode_report(report: Progress | Outcome) -> bytes:
    """A handler process's word. Raises TypeError or ValueError for what is not JSON."""
    kind = next(name for name, made in _KINDS.items() if isinstance(report, made))
    return _packed({kind: asdict(report)})


def decode_report(message: bytes) -> Progress | Outcome:
    """What a handler process said."""
    ((kind, fields),) = json.loads(message).items()
    return _KINDS[kind](**fields)


def _packed(value: dict[str, Any]) -> bytes:
    return json.dumps(value, allow_nan=False).encode("ascii")
