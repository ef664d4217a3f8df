"""Handlers for tests: what a track's uri says is done."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guildqueue.worker.handler import HandlerResult, HandlerWork, PermanentFailure, WorkerUnfit

Report = Callable[[float], None]


def transcribe(work: HandlerWork, report: Report) -> HandlerResult:
    """Do ``verb`` or ``verb:argument``; leave a file a run in the media folder."""
    verb, _, argument = str(work.payload["uri"]).partition(":")
    folder = Path(os.environ["GUILDQUEUE_MEDIA_ROOT"])
    name = f"{work.job_id}-{work.token}"
    # Renamed, so that whoever sees the file finds the number in it.
    (folder / f".{name}").write_text(str(os.getpid()))
    (folder / f".{name}").rename(folder / name)
    return _VERBS[verb](argument, report)


def document(work: HandlerWork, report: Report) -> HandlerResult:
    """Say what the tracks gave."""
    return HandlerResult(result={"tracks": [f"{g.name}: {g.result['did']}" for g in work.inputs]})


def _talk(argument: str, report: Report) -> HandlerResult:
    return HandlerResult(result={"did": argument}, audio_seconds=12.5)


def _sleep(argument: str, report: Report) -> HandlerResult:
    time.sleep(float(argument))
    return HandlerResult(result={"did": "slept"})


def _wait(argument: str, report: Report) -> HandlerResult:
    allowed = Path(os.environ["GUILDQUEUE_MEDIA_ROOT"]) / argument
    while not allowed.exists():
        time.sleep(0.02)
    return HandlerResult(result={"did": "waited"})


def _spin(argument: str, report: Report) -> HandlerResult:
    end_at = time.monotonic() + float(argument)
    while time.monotonic() < end_at:
        sum(range(1000))
    return HandlerResult(result={"did": "span"})


def _half(argument: str, report: Report) -> HandlerResult:
    report(float("nan"))
    report(0.5)
    time.sleep(float(argument))
    return HandlerResult(result={"did": "half"})


def _raise(argument: str, report: Report) -> HandlerResult:
    raise ValueError(argument + "\nsecond line\x1b[31m")


def _give_up(argument: str, report: Report) -> HandlerResult:
    raise PermanentFailure(argument)


def _unfit(argument: str, report: Report) -> HandlerResult:
    raise WorkerUnfit(argument)


def _kill(argument: str, report: Report) -> HandlerResult:
    os.kill(os.getpid(), signal.SIGKILL)
    return HandlerResult()


def _exit(argument: str, report: Report) -> HandlerResult:
    sys.exit(int(argument))


def _vanish(argument: str, report: Report) -> HandlerResult:
    os._exit(int(argument))


def _result(argument: str, report: Report) -> HandlerResult:
    bad: dict[str, dict[str, Any]] = {
        "nul": {"did": "a\0b"},
        "set": {"did": {1}},
        "big": {"did": "x" * 70_000},
    }
    if argument == "length":
        return HandlerResult(result={}, audio_seconds=float("inf"))
    return HandlerResult(result=bad[argument])


def _environment(argument: str, report: Report) -> HandlerResult:
    return HandlerResult(result={"did": sorted(os.environ), "values": sorted(os.environ.values())})


_VERBS = {
    "talk": _talk,
    "sleep": _sleep,
    "wait": _wait,
    "spin": _spin,
    "half": _half,
    "raise": _raise,
    "give-up": _give_up,
    "unfit": _unfit,
    "kill": _kill,
    "exit": _exit,
    "vanish": _vanish,
    "result": _result,
    "environment": _environment,
}
