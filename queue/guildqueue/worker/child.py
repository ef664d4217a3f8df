"""The process in which handlers run: no Django, no database, one job at a time.

Started as ``python -m guildqueue.worker.child FD BELL``: its end of the worker's socket, and of the
pipe that wakes the worker.
"""

import ctypes
import importlib
import logging
import math
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from socket import socket

from guildqueue.worker.handler import (
    Handler,
    HandlerResult,
    HandlerWork,
    PermanentFailure,
    WorkerUnfit,
)
from guildqueue.worker.protocol import (
    LARGEST_RESULT_BYTES,
    Done,
    Failed,
    Outcome,
    Progress,
    Report,
    Unfit,
    to_json,
)
from guildqueue.worker.reports import Reports
from guildqueue.worker.todo import Todo, read_orders

REASON_LIMIT = 500  # characters
_PR_SET_PDEATHSIG = 1


def main(worker: socket, bell: int) -> None:
    """Run one order after the other until the worker is gone."""
    reports = Reports(worker, bell)
    todo = Todo()
    threading.Thread(target=_obey, args=(worker, todo, reports), daemon=True).start()
    while True:
        handler, work = todo.take()
        outcome = outcome_of(handler, work, _reporter(reports, work.job_id))
        reports.say(Report(work.job_id, outcome), is_urgent=todo.is_empty)


def outcome_of(handler: str, work: HandlerWork, report: Callable[[float], None]) -> Outcome:
    """What came of the work; whatever the handler raises is a reason and never gets out."""
    try:
        return _done(_found(handler)(work, report))
    except PermanentFailure as error:
        return Failed(one_line(str(error)), permanent=True)
    # A module that is missing says nothing about the job: every other one would fail as well.
    except (WorkerUnfit, ImportError) as error:
        return Unfit(one_line(str(error)), traceback.format_exc())
    except BaseException as error:  # noqa: BLE001 - sys.exit() in a handler must not end the queue
        said = one_line(str(error))
        name = type(error).__name__
        return Failed(f"{name}: {said}" if said else name, traceback=traceback.format_exc())


def one_line(text: str) -> str:
    """``text`` on one line that any terminal, log and database takes."""
    shown = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    printable = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return printable if len(printable) <= REASON_LIMIT else f"{printable[: REASON_LIMIT - 1]}…"


@cache
def _found(handler: str) -> Handler:
    module, _, name = handler.rpartition(".")
    found: Handler = getattr(importlib.import_module(module), name)
    return found


def _done(given: HandlerResult) -> Done:
    """The result, fit to be stored. Raises ValueError or TypeError if it is not."""
    size = len(to_json(given.result))
    if size > LARGEST_RESULT_BYTES:
        raise ValueError(f"a result of {size} bytes; what is big belongs in a file that it names")
    seconds = given.audio_seconds
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"audio_seconds is {seconds!r}, which is no length")
    return Done(given.result, seconds)


def _reporter(reports: Reports, job_id: int) -> Callable[[float], None]:
    def report(fraction: float) -> None:
        if math.isfinite(fraction):
            known = min(max(float(fraction), 0.0), 1.0)
            reports.say(Report(job_id, Progress(known)), is_urgent=True)

    return report


def _obey(worker: socket, todo: Todo, reports: Reports) -> None:
    try:
        read_orders(worker, todo, reports)
    finally:
        # The worker is gone, and with it the right to work on: at once, in mid-job.
        os._exit(1)


def _answer_to_worker_alone() -> None:
    # A service manager signals all of a service's processes, but the worker decides what
    # becomes of the job; and it ends us with a signal that nobody can ignore.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Also when native code keeps the thread above from running. The worker starts us from its
    # main thread, whose end is what the kernel watches.
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    _answer_to_worker_alone()
    os.nice(10)  # a page should not wait for a processor that a transcription keeps busy
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    main(socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
