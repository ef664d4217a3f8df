"""Who of those that wait for work tries when there may be some: never all at once."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from django.conf import settings

from console.api.waiting_room import Crowd, WaitingRoom


@pytest.fixture(autouse=True)
def _seldom(settings: Any) -> None:
    settings.QUEUE_POLL_SECONDS = 60
    settings.QUEUE_WAKE_UPS = False


class Waiter:
    """Somebody who waits, tries when called, and leaves with what there is."""

    def __init__(self, crowd: Crowd, work: list[int]) -> None:
        self.crowd = crowd
        self.work = work
        self.n_tries = 0
        self.got: int | None = None
        self.task = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        with self.crowd.joined() as called:
            while True:
                await called.wait()
                assert self.crowd.lets_try(called)
                self.n_tries += 1
                await asyncio.sleep(0)
                if self.work:
                    self.got = self.work.pop(0)
                    return
                self.crowd.rest(called)


async def settled() -> None:
    for _ in range(200):
        await asyncio.sleep(0)


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test())

    run.__name__ = test.__name__
    return run


def tries(waiters: list[Waiter]) -> list[int]:
    return [waiter.n_tries for waiter in waiters]


async def crowd_of(n: int, work: list[int]) -> tuple[Crowd, list[Waiter]]:
    crowd = Crowd()
    waiters = [Waiter(crowd, work) for _ in range(n)]
    await settled()
    return crowd, waiters


async def leave(crowd: Crowd, waiters: list[Waiter]) -> None:
    for waiter in waiters:
        waiter.task.cancel()
    await asyncio.gather(*(waiter.task for waiter in waiters), return_exceptions=True)
    assert crowd.is_empty
    crowd.close()


@in_loop
async def test_where_there_is_nothing_one_tries_for_all() -> None:
    crowd, waiters = await crowd_of(1000, [])

    crowd.call()
    await settled()

    assert tries(waiters) == [1] + [0] * 999
    await leave(crowd, waiters)


@in_loop
async def test_where_there_is_something_one_more_tries_than_there_is_work() -> None:
    crowd, waiters = await crowd_of(5, [7, 8])

    crowd.call()
    await settled()

    assert [waiter.got for waiter in waiters] == [7, 8, None, None, None]
    assert tries(waiters) == [1, 1, 1, 0, 0]
    await leave(crowd, waiters)


@in_loop
async def test_a_call_during_a_try_is_answered_by_another_one() -> None:
    crowd, waiters = await crowd_of(2, [])

    crowd.call()
    crowd.call()
    crowd.call()
    await settled()

    assert tries(waiters) == [2, 0]
    await leave(crowd, waiters)


@in_loop
async def test_the_turn_of_one_who_leaves_is_the_next_ones() -> None:
    crowd, waiters = await crowd_of(3, [])

    crowd.call()
    waiters[0].task.cancel()
    await settled()

    assert tries(waiters) == [0, 1, 0]
    await leave(crowd, waiters)


@in_loop
async def test_whose_time_is_up_tries_a_last_time_unless_somebody_just_did() -> None:
    crowd, waiters = await crowd_of(1, [])

    with crowd.joined() as first, crowd.joined() as second:
        assert crowd.lets_try(first)
        assert not crowd.lets_try(second)
    await leave(crowd, waiters)


@in_loop
async def test_a_poll_calls_without_a_wake_up() -> None:
    settings.QUEUE_POLL_SECONDS = 0.05
    crowd, waiters = await crowd_of(2, [])

    await asyncio.sleep(0.25)

    assert 2 <= waiters[0].n_tries <= 10
    assert waiters[1].n_tries == 0
    await leave(crowd, waiters)


@in_loop
async def test_a_wake_up_calls_each_crowd_and_one_before_joining_is_not_lost() -> None:
    room = WaitingRoom()
    seen = room.n_wakes

    with room.crowd("a", since=seen) as first, room.crowd("b", since=seen) as second:
        waiters = [Waiter(first, []), Waiter(second, [])]
        await settled()
        room.wake()
        await settled()
        assert tries(waiters) == [1, 1]

        with room.crowd("a", since=seen) as same:
            assert same is first
            await settled()
        assert tries(waiters) == [2, 1]
        for waiter in waiters:
            waiter.task.cancel()
        await settled()
    room.stop()
