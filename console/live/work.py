"""The few threads in which the hub asks the database, and questions that are asked together."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, ParamSpec, TypeVar

from django.db import connections

from console.live.threads import DaemonThreads

THREADS = 2
TOGETHER_AT_MOST = 500

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)
Answers = Callable[[Collection[K]], Mapping[K, R]]


class Closed(Exception):
    """The process is about to end: nothing new is begun."""


class Work:
    """Runs blocking calls of one event loop; none keeps a database connection when it returns."""

    def __init__(self) -> None:
        self._threads = DaemonThreads(THREADS, name="live")
        self._asked: dict[Any, dict[Any, asyncio.Future[Any]]] = {}
        self._answering: dict[Any, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What ``call`` returns, from a thread. Raises Closed where it was not even begun."""
        if self._closed.is_set():
            raise Closed
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, lambda: _alone(call, *args, **kwargs))
        try:
            return await future
        except asyncio.CancelledError:
            # Closing cancels what waits for a thread; whoever waits for that is not cancelled.
            task = asyncio.current_task()
            if self._closed.is_set() and (task is None or not task.cancelling()):
                raise Closed from None
            raise

    async def together(self, answers: Answers[K, R], question: K) -> R:
        """``answers`` of ``question``, asked together with whatever else is asked meanwhile.

        The answer is never older than the question. Raises LookupError where there is none.
        """
        asked = self._asked.setdefault(answers, {})
        if question not in asked:
            asked[question] = asyncio.get_running_loop().create_future()
        future = asked[question]
        if answers not in self._answering:
            self._answering[answers] = asyncio.create_task(self._answer(answers))
        return await asyncio.shield(future)

    def close(self) -> None:
        """Take no more; what runs in a thread is not waited for."""
        self._closed.set()
        self._threads.stop()

    async def _answer(self, answers: Answers[K, R]) -> None:
        try:
            while asked := self._asked.pop(answers, None):
                for some in _in_parts(list(asked), TOGETHER_AT_MOST):
                    await self._answer_some(answers, {key: asked[key] for key in some})
        finally:
            del self._answering[answers]

    async def _answer_some(
        self, answers: Answers[K, R], asked: Mapping[K, asyncio.Future[R]]
    ) -> None:
        try:
            found = await self.run(answers, tuple(asked))
        except Exception as error:  # noqa: BLE001 - it is raised to each of those who asked
            for future in asked.values():
                _settle(future, error=error)
            return
        for question, future in asked.items():
            if question in found:
                _settle(future, result=found[question])
            else:
                _settle(future, error=LookupError(question))


def _settle(
    future: asyncio.Future[R], *, result: Any = None, error: Exception | None = None
) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
        return
    future.set_exception(error)
    future.exception()  # whoever asked may be gone, and that is no news


def _alone(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    try:
        return call(*args, **kwargs)
    finally:
        # This thread lives on, and its connection would stay taken with it.
        connections.close_all()


def _in_parts(items: list[K], size: int) -> list[list[K]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
