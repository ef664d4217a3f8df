"""What a job's handler is given and gives back; standard library only, as handlers run apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerInput:
    """A finished job that this one needs."""

    job_id: int
    name: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerWork:
    """One leased job. ``inputs`` are the finished jobs it needs, in ascending id.

    ``token`` is the lease's fencing token: a file name that carries it is nobody else's.
    """

    job_id: int
    guild_id: int
    session_id: int
    kind: str
    token: int
    payload: Mapping[str, Any]
    inputs: tuple[HandlerInput, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerResult:
    """``result`` is small and JSON; anything big lies in a file that it names."""

    result: dict[str, Any] = field(default_factory=dict)
    audio_seconds: float | None = None


class PermanentFailure(Exception):
    """No retry can help: the job goes straight to dead, with this text as the reason."""


class WorkerUnfit(Exception):
    """This worker cannot do such jobs at all, as its model or a library is not there.

    The job is handed back untouched and the worker ends with this text: a machine that was set
    up wrongly must not use up the attempts of a whole queue.
    """


Handler = Callable[[HandlerWork, Callable[[float], None]], HandlerResult]
"""``run(work, report)``: reports progress from 0.0 to 1.0 and returns what came of the job."""
