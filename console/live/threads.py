"""Threads that a process does not wait for when it ends.

The standard library's executor does, and a thread may be waiting for a database that has
gone silent.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Job = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(Executor):
    """At most ``n`` daemon threads, started as they are needed."""

    def __init__(self, n: int, *, name: str) -> None:
        self._n = n
        self._name = name
        self._n_started = 0
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()

    def submit(  # type: ignore[override] # the base's is positional-only
        self, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> Future[R]:
        future: Future[R] = Future()
        self._jobs.put((future, lambda: fn(*args, **kwargs)))
        if self._n_started < self._n:
            self._n_started += 1
            name = f"{self._name}-{self._n_started}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()
        return future

    def stop(self) -> None:
        """Drop what no thread has begun; never wait for what one has."""
        try:
            while (job := self._jobs.get_nowait()) is not None:
                job[0].cancel()
        except Empty:
            pass
        for _ in range(self._n_started):
            self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - it is raised to whoever asked
                future.set_exception(error)
            # Until the next job comes, nothing of this one is kept.
            del job, future, call
