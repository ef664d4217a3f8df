"""Questions that are asked together, in few threads, and never answered from before they were."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Collection
from types import FrameType

import pytest

from console.live.stopping import on_stop_signal
from console.live.work import THREADS, TOGETHER_AT_MOST, Closed, Work


def play(scene: Callable[[Work], Awaitable[None]]) -> None:
    async def run() -> None:
        work = Work()
        try:
            await asyncio.wait_for(scene(work), 20)
        finally:
            work.close()

    asyncio.run(run())


class Oracle:
    """Doubles numbers, and keeps what it was asked at once."""

    def __init__(self) -> None:
        self.asked: list[Collection[int]] = []
        self.go_on = threading.Event()

    def answers(self, questions: Collection[int]) -> dict[int, int]:
        self.asked.append(questions)
        assert self.go_on.wait(10)
        return {number: 2 * number for number in questions if number >= 0}


def test_what_is_asked_while_an_answer_is_sought_is_asked_together() -> None:
    oracle = Oracle()

    async def scene(work: Work) -> None:
        first = asyncio.create_task(work.together(oracle.answers, 1))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(work.together(oracle.answers, n % 10)) for n in range(100)]
        await asyncio.sleep(0.05)
        oracle.go_on.set()

        assert await first == 2
        assert await asyncio.gather(*others) == [2 * (n % 10) for n in range(100)]
        assert oracle.asked[0] == (1,)
        # Asked again, though the same was being answered: that answer may be older than this.
        assert sorted(oracle.asked[1]) == list(range(10))
        assert len(oracle.asked) == 2

    play(scene)


def test_very_many_questions_are_asked_in_parts() -> None:
    oracle = Oracle()
    oracle.go_on.set()

    async def scene(work: Work) -> None:
        n_questions = 2 * TOGETHER_AT_MOST + 1
        found = await asyncio.gather(
            *(work.together(oracle.answers, n) for n in range(n_questions))
        )

        assert found == [2 * n for n in range(n_questions)]
        assert max(map(len, oracle.asked)) == TOGETHER_AT_MOST

    play(scene)


def test_a_question_without_an_answer_is_an_error_of_its_own() -> None:
    oracle = Oracle()
    oracle.go_on.set()

    async def scene(work: Work) -> None:
        known, unknown = await asyncio.gather(
            work.together(oracle.answers, 1),
            work.together(oracle.answers, -1),
            return_exceptions=True,
        )

        assert known == 2
        assert isinstance(unknown, LookupError)

    play(scene)


def test_a_fault_is_raised_to_all_who_asked_and_the_next_are_answered() -> None:
    oracle = Oracle()
    faults = [ZeroDivisionError()]

    def answers(questions: Collection[int]) -> dict[int, int]:
        if faults:
            raise faults.pop()
        return oracle.answers(questions)

    oracle.go_on.set()

    async def scene(work: Work) -> None:
        refused = await asyncio.gather(
            *(work.together(answers, n) for n in range(3)), return_exceptions=True
        )

        assert {type(error) for error in refused} == {ZeroDivisionError}
        assert await work.together(answers, 4) == 8

    play(scene)


def test_one_who_gives_up_takes_no_other_ones_answer_away() -> None:
    oracle = Oracle()

    async def scene(work: Work) -> None:
        leaver, stayer = (asyncio.create_task(work.together(oracle.answers, 1)) for _ in "ab")
        await asyncio.sleep(0.05)
        leaver.cancel()
        oracle.go_on.set()

        assert await stayer == 2

    play(scene)


def test_whoever_waits_when_it_closes_is_told_and_nothing_new_is_begun() -> None:
    oracle = Oracle()

    async def scene(work: Work) -> None:
        busy = [asyncio.create_task(work.run(oracle.go_on.wait, 10)) for _ in range(THREADS)]
        waiting = asyncio.create_task(work.run(threading.get_ident))
        asked = asyncio.create_task(work.together(oracle.answers, 1))
        await asyncio.sleep(0.05)
        work.close()

        for task in (waiting, asked):
            with pytest.raises(Closed):
                await task
        with pytest.raises(Closed):
            await work.run(threading.get_ident)
        oracle.go_on.set()
        assert await asyncio.gather(*busy) == [True] * THREADS

    play(scene)


def test_a_stop_signal_is_heard_and_passed_on_once() -> None:
    heard: list[str] = []

    def servers_own(number: int, frame: FrameType | None) -> None:
        heard.append("server")

    async def scene(work: Work) -> None:
        told = asyncio.Event()
        on_stop_signal(told.set)
        on_stop_signal(told.set)
        signal.raise_signal(signal.SIGTERM)
        await told.wait()

    before = signal.signal(signal.SIGTERM, servers_own)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        play(scene)
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, interrupt)

    assert heard == ["server"]
