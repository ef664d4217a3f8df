"""Threads with a database connection of their own: released together, or kept half done."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from threading import Barrier, Event
from time import monotonic, sleep
from typing import Any, Generic, TypeVar

from django.db import connection, connections, transaction

from guildqueue.domain.errors import QueueError

R = TypeVar("R")

PATIENCE_S = 30.0


class _RolledBack(Exception):
    """What takes a transaction back that its test is done with."""


def together(*actions: Callable[[], R]) -> list[R | QueueError]:
    """What each action gave, or the refusal it raised, when all begin at the same moment."""
    barrier = Barrier(len(actions))

    def run(action: Callable[[], R]) -> R | QueueError:
        try:
            connection.ensure_connection()
            barrier.wait(PATIENCE_S)
            return action()
        except QueueError as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        running = [pool.submit(run, action) for action in actions]
        return [future.result(PATIENCE_S) for future in running]


def elsewhere(action: Callable[[], R]) -> R:
    """What the action gave, in a thread and connection of its own."""
    given = together(action)[0]
    if isinstance(given, QueueError):
        raise given
    return given


class HalfDone:
    """A transaction of another connection that has done its work and is still open."""

    def __init__(self, may_end: Event, running: "Future[None]") -> None:
        self._may_end = may_end
        self._running = running

    def end(self) -> None:
        """Let the transaction end, and return when it has."""
        self._may_end.set()
        self._running.result(PATIENCE_S)


@contextmanager
def half_done(action: Callable[[], object], *, commit: bool) -> Iterator[HalfDone]:
    """The action done by another connection whose transaction stays open inside the block.

    It is committed or rolled back, and that awaited, when the block ends or by ``end``.
    """
    done, may_end = Event(), Event()

    def run() -> None:
        try:
            with transaction.atomic():
                action()
                done.set()
                if not may_end.wait(PATIENCE_S):
                    raise TimeoutError("the test never let the transaction end")
                if not commit:
                    raise _RolledBack
        except _RolledBack:
            pass
        finally:
            done.set()
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        held_open = HalfDone(may_end, pool.submit(run))
        try:
            if not done.wait(PATIENCE_S):
                raise TimeoutError("the action waits for somebody")
            yield held_open
        finally:
            held_open.end()


class Begun(Generic[R]):
    """An action that another connection is at."""

    def __init__(self, pid: int, running: Future[R]) -> None:
        self.pid = pid
        self.is_asked = False
        self._running = running

    def wait_until_blocked(self) -> None:
        """Return once the action waits for a lock that another connection holds."""
        give_up_at = monotonic() + PATIENCE_S
        while not query("SELECT 1 WHERE cardinality(pg_blocking_pids(%s)) > 0", [self.pid]):
            if self._running.done() or monotonic() > give_up_at:
                raise TimeoutError("the action waits for nobody")
            sleep(0.002)

    def result(self) -> R:
        """What the action gave, or raised, in the end."""
        self.is_asked = True
        return self._running.result(PATIENCE_S)


@contextmanager
def begun(action: Callable[[], R]) -> Iterator[Begun[R]]:
    """The action on its way in another connection; awaited when the block ends.

    What it raises comes out there, unless the block asked for the result itself.
    """
    pids: Queue[int] = Queue()

    def run() -> R:
        try:
            pids.put(int(query("SELECT pg_backend_pid()")[0][0]))
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        on_its_way = Begun(pids.get(timeout=PATIENCE_S), running)
        yield on_its_way
        if not on_its_way.is_asked:
            running.result(PATIENCE_S)


def query(statement: str, params: Sequence[Any] | None = ()) -> list[tuple[Any, ...]]:
    """The rows of a statement of the test's own."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall() if cursor.description else []
