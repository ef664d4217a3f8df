"""What somebody looks at is read once a tick and sent to all when it changed, never backwards."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError

from console.live.authority import Asked
from console.live.frames import AWAY, BACK, Frame, body, frame
from console.live.subjects import Reading, Subject
from console.live.topic import Topic
from console.live.viewer import Viewer
from console.live.work import Work
from guildqueue.domain.errors import GuildNotFound
from guildqueue.domain.ids import GuildId

GUILD = GuildId(118)


class Shelf(Subject):
    """Something to watch whose content the test decides."""

    __slots__ = ("fault", "n_made", "n_reads", "number", "pause", "text")
    kind = "shelf"

    def __init__(self) -> None:
        self.number, self.text = 1, "one"
        self.n_reads = self.n_made = 0
        self.fault: Exception | None = None
        self.pause: threading.Event | None = None

    def read(self) -> Reading:
        self.n_reads += 1
        if self.fault is not None:
            raise self.fault
        return Reading(self.number, self.text, self.text, frozenset([GUILD]))

    def frame(self, found: Reading, form: str) -> Frame:
        if self.pause is not None:
            assert self.pause.wait(10)
        self.n_made += 1
        return frame(f"{form}:{found.value}", version=f"{found.number}.{found.digest}")


class Watched(Viewer):
    """A viewer that keeps what it is shown."""

    __slots__ = ("shown",)

    def __init__(self, form: str = "en") -> None:
        self.form = form
        self.asked = Asked(credential=None)
        self.shown: list[Any] = []

    def show(self, frame: Frame) -> None:
        text = b"".join(message["body"] for message in frame.messages).decode()
        self.shown.append(text.partition("data: ")[2].strip())

    def note(self, note: Any) -> None:
        self.shown.append("away" if note is AWAY else "back" if note is BACK else note)

    def end(self, reason: str) -> None:
        self.shown.append(f"end {reason}")


Play = Callable[["Stage"], Awaitable[None]]


class Stage:
    """A topic that looks when the test says so."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.work = Work()
        self.topic = Topic(self.shelf, self.work, poll_s=3600)

    async def admit(self, form: str = "en") -> Watched:
        viewer = Watched(form)
        async with self.topic.expecting(form):
            self.topic.admit(viewer)
        return viewer

    async def change(self, text: str, *, number: int) -> None:
        self.shelf.text, self.shelf.number = text, number
        await self.look()

    async def look(self) -> None:
        async with self.topic._lock:
            await self.topic._look_again()


@contextmanager
def stage() -> Iterator[Stage]:
    made = Stage()
    try:
        yield made
    finally:
        made.work.close()


def play(scene: Play) -> None:
    async def run() -> None:
        with stage() as made:
            await asyncio.wait_for(scene(made), 20)

    asyncio.run(run())


def test_a_viewer_is_shown_what_is_there_and_then_what_changes() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        await on.change("two", number=2)

        assert viewer.shown == ["en:one", "en:two"]

    play(scene)


def test_a_hundred_viewers_cost_one_read_and_one_frame_a_language() -> None:
    async def scene(on: Stage) -> None:
        viewers = await asyncio.gather(*(on.admit("en" if n % 2 else "de") for n in range(100)))
        assert (on.shelf.n_reads, on.shelf.n_made) == (1, 2)
        await on.change("two", number=2)

        assert (on.shelf.n_reads, on.shelf.n_made) == (2, 4)
        assert {tuple(viewer.shown) for viewer in viewers} == {
            ("en:one", "en:two"),
            ("de:one", "de:two"),
        }

    play(scene)


def test_what_has_not_changed_is_neither_rendered_nor_sent_again() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        await on.change("one", number=5)

        assert viewer.shown == ["en:one"]
        assert on.shelf.n_made == 1

    play(scene)


def test_an_older_moment_never_replaces_a_newer_one() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        await on.change("three", number=3)
        await on.change("two", number=2)
        await on.change("as of three, later", number=3)

        assert viewer.shown == ["en:one", "en:three", "en:as of three, later"]

    play(scene)


def test_a_number_that_rose_without_a_change_still_keeps_older_ones_out() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        await on.change("one", number=9)
        await on.change("of before", number=8)

        assert viewer.shown == ["en:one"]

    play(scene)


def test_one_who_comes_while_a_newer_frame_is_made_is_shown_it_too() -> None:
    async def scene(on: Stage) -> None:
        staying, gone = await on.admit("en"), await on.admit("de")
        on.topic.leave(gone)
        on.shelf.pause = threading.Event()
        looking = asyncio.create_task(on.change("two", number=2))
        while on.shelf.n_reads < 2:  # noqa: ASYNC110 - it is counted in a thread
            await asyncio.sleep(0.001)
        late = await on.admit("de")
        on.shelf.pause.set()
        await looking

        assert late.shown == ["de:one", "de:two"]
        assert staying.shown == ["en:one", "en:two"]

    play(scene)


def test_who_left_is_sent_nothing() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        on.topic.leave(viewer)
        on.topic.leave(viewer)
        await on.change("two", number=2)

        assert viewer.shown == ["en:one"]
        assert on.topic.is_unwatched

    play(scene)


def test_all_who_come_while_nothing_can_be_read_get_one_answer_from_one_read() -> None:
    async def scene(on: Stage) -> None:
        on.shelf.fault = OperationalError("gone")
        refused = await asyncio.gather(*(on.admit() for _ in range(100)), return_exceptions=True)

        assert {type(error) for error in refused} == {OperationalError}
        assert on.shelf.n_reads == 1
        assert on.topic.is_unwatched

    play(scene)


@pytest.mark.parametrize("fault", [OperationalError("gone"), ZeroDivisionError("a fault of ours")])
def test_viewers_stay_through_an_outage_and_are_told_of_it_once(fault: Exception) -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        on.shelf.fault = fault
        await on.look()
        await on.look()
        with pytest.raises(type(fault)):
            await on.admit()
        on.shelf.fault = None
        await on.change("two", number=2)
        await on.look()

        assert viewer.shown == ["en:one", "away", "en:two", "back"]
        assert (await on.admit()).shown == ["en:two"]

    play(scene)


def test_a_frame_that_cannot_be_made_is_tried_again() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        on.shelf.n_made = 0
        broken = type("Broken", (Shelf,), {"__slots__": (), "frame": lambda *_: 1 / 0})
        on.shelf.__class__ = broken
        await on.change("two", number=2)
        on.shelf.__class__ = Shelf
        await on.look()

        assert viewer.shown == ["en:one", "away", "en:two", "back"]

    play(scene)


def test_what_is_gone_ends_the_stream_with_the_reason() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        on.shelf.fault = GuildNotFound(GUILD)
        await on.look()

        assert viewer.shown == ["en:one", "end gone"]

    play(scene)


def test_a_topic_looks_at_once_when_its_guild_changed_and_not_for_another() -> None:
    async def scene(on: Stage) -> None:
        await on.admit()
        watching = asyncio.create_task(on.topic.watch())
        on.topic.wake(GuildId(119))
        await asyncio.sleep(0.05)
        assert on.shelf.n_reads == 1
        on.topic.wake(GUILD)
        while on.shelf.n_reads < 2:  # noqa: ASYNC110 - it is counted in a thread
            await asyncio.sleep(0.001)
        watching.cancel()

    play(scene)


def test_a_burst_of_changes_is_read_few_times_but_never_missed() -> None:
    async def scene(on: Stage) -> None:
        viewer = await on.admit()
        watching = asyncio.create_task(on.topic.watch())
        for number in range(2, 1002):
            on.shelf.text, on.shelf.number = str(number), number
            on.topic.wake(GUILD)
            await asyncio.sleep(0)
        while viewer.shown[-1] != "en:1001":  # noqa: ASYNC110 - it comes from a thread
            await asyncio.sleep(0.001)
        watching.cancel()

        assert on.shelf.n_reads < 500

    play(scene)


def test_a_note_is_for_everybody() -> None:
    async def scene(on: Stage) -> None:
        viewers = [await on.admit() for _ in range(3)]
        note = body(b": hello\n\n")
        await on.topic.note(note)

        assert all(viewer.shown[-1] is note for viewer in viewers)

    play(scene)
