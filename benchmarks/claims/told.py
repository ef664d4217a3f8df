"""A process that enqueues one job for each line that it reads, and answers when it began to."""

import sys
import time
from collections.abc import Callable


def enqueue_when_told(enqueue: Callable[[], object]) -> None:
    """Answers nanoseconds of the monotonic clock, a line each."""
    print("ready", flush=True)
    for _ in sys.stdin:
        begun = time.monotonic_ns()
        enqueue()
        print(begun, flush=True)
