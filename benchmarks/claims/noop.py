"""The job of every benchmark: it is counted, and that is all."""

from collections.abc import Callable

from benchmarks.claims.counters import count
from guildqueue.worker.handler import HandlerResult, HandlerWork


def run(work: HandlerWork, report: Callable[[float], None]) -> HandlerResult:  # noqa: ARG001
    """Our worker's handler."""
    count()
    return HandlerResult()
