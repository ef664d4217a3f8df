"""What the worker command runs in a chaos run: the same tempers as the claimers know."""

import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from guildqueue.worker.handler import HandlerResult, HandlerWork, PermanentFailure
from tests.chaos.diary import Diary
from tests.chaos.plan import LEASE_S


def run(work: HandlerWork, report: Callable[[float], None]) -> HandlerResult:
    """Note that the job was begun under its token, then do or fail it."""
    _diary().claimed(work.job_id, work.token)
    match work.payload.get("uri"):
        case "fails" if work.token <= 2:
            raise ValueError("it had to")
        case "hopeless":
            raise PermanentFailure("it had to")
        case "slow" | "dull":
            report(0.5)
            time.sleep(LEASE_S * 1.3)
        case _:
            time.sleep(0.003)
    return HandlerResult(result={"by": _name(), "token": work.token})


def _name() -> str:
    return f"handler-{os.getpid()}"


@cache
def _diary() -> Diary:
    return Diary(Path(os.environ["CHAOS_DIARIES"]), _name())
