"""A stream sends the newest frame, however slowly it is read, and costs nothing while idle."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import pytest

from console.live import viewer as viewer_module
from console.live.authority import Asked
from console.live.frames import HEARTBEAT, PIECE_BYTES, body, frame
from console.live.servers import BLIND_BUDGET_BYTES, Connection, PushedBack, connection_of
from console.live.viewer import Viewer


class Wire:
    """What was sent; while ``is_stuck`` a send waits, as for a reader who takes nothing."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.ended = False
        self.aborted = False
        self.sticks_after = -1
        self.room = asyncio.Event()
        self.room.set()

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.room.wait()
        self.sent.append(message["body"])
        if len(self.sent) == self.sticks_after:
            self.room.clear()
        self.ended = self.ended or not message["more_body"]

    def abort(self) -> None:
        self.aborted = True

    @property
    def text(self) -> str:
        return b"".join(self.sent).decode()


def viewer_on(wire: Wire, connection: Connection | None = None) -> Viewer:
    return Viewer(
        wire.send,
        connection or Connection(wire),
        asked=Asked(credential=None),
        form="json",
        opening=body(b"retry: 1\n"),
    )


def scenario(play: Callable[[Wire, Viewer], Awaitable[None]]) -> Wire:
    async def run() -> Wire:
        wire = Wire()
        await play(wire, viewer_on(wire))
        return wire

    return asyncio.run(run())


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def n_tasks() -> int:
    return len(asyncio.all_tasks())


def test_a_frame_is_sent_after_the_opening() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        viewer.show(frame("one"))
        await settle()

    assert scenario(play).text == "retry: 1\ndata: one\n\n"


def test_a_slow_reader_gets_the_newest_frame_and_no_backlog() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        wire.room.clear()
        for number in range(500):
            viewer.show(frame(str(number)))
            await asyncio.sleep(0)
        wire.room.set()
        await settle()

    assert scenario(play).text == "retry: 1\ndata: 499\n\n"


def test_a_frame_that_is_half_sent_is_finished_before_a_newer_one() -> None:
    long = "x" * (2 * PIECE_BYTES)

    async def play(wire: Wire, viewer: Viewer) -> None:
        wire.sticks_after = 2
        viewer.show(frame(long))
        await settle()
        assert len(wire.sent) == 2
        viewer.show(frame("stale"))
        viewer.show(frame("newest"))
        wire.room.set()
        await settle()

    assert scenario(play).text == f"retry: 1\ndata: {long}\n\ndata: newest\n\n"


def test_an_idle_stream_has_no_task() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        viewer.show(frame("one"))
        assert n_tasks() == 2
        await settle()
        assert n_tasks() == 1
        viewer.note(HEARTBEAT)
        await settle()
        assert n_tasks() == 1

    assert scenario(play).text.endswith(": still here\n\n")


def test_a_note_follows_the_newest_frame_and_the_newest_note_is_enough() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        wire.room.clear()
        viewer.note(body(b": old\n\n"))
        viewer.show(frame("one"))
        viewer.note(HEARTBEAT)
        wire.room.set()
        await settle()

    assert scenario(play).text == "retry: 1\ndata: one\n\n: still here\n\n"


def test_after_its_end_a_stream_says_nothing_more() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        viewer.show(frame("one"))
        await settle()
        viewer.show(frame("not theirs any more"))
        viewer.end("not-yours")
        viewer.show(frame("nor this"))
        viewer.note(HEARTBEAT)
        viewer.end("twice")
        await settle()

    wire = scenario(play)
    assert wire.text == "retry: 1\ndata: one\n\nevent: end\ndata: not-yours\n\n"
    assert wire.ended


def test_a_reader_who_does_not_take_the_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer_module, "GRACE_S", 0.01)

    async def play(wire: Wire, viewer: Viewer) -> None:
        wire.room.clear()
        viewer.show(frame("one"))
        await settle()
        viewer.end("not-yours")
        await asyncio.sleep(0.05)
        viewer.close()

    wire = scenario(play)
    assert wire.aborted
    assert wire.sent == []


def test_a_stream_that_closed_by_itself_is_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer_module, "GRACE_S", 0.01)

    async def play(wire: Wire, viewer: Viewer) -> None:
        viewer.end("")
        await settle()
        viewer.close()
        await asyncio.sleep(0.05)

    assert not scenario(play).aborted


def test_closing_ends_the_task_of_a_stuck_reader() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        wire.room.clear()
        viewer.show(frame("one"))
        await settle()
        viewer.close()
        await settle()
        assert n_tasks() == 1

    assert scenario(play).sent == []


def test_a_connection_that_breaks_is_aborted_and_takes_no_other_with_it() -> None:
    async def play(wire: Wire, viewer: Viewer) -> None:
        async def broken(message: Mapping[str, Any]) -> None:
            raise RuntimeError("the server's own trouble")

        viewer._send = broken
        viewer.show(frame("one"))
        await settle()

    assert scenario(play).aborted


class Request:
    """As much of daphne's request as is leaned on."""

    def __init__(self) -> None:
        self.producer: Any = None
        self.channel = object()

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: N802
        assert streaming
        self.producer = producer

    def unregisterProducer(self) -> None:  # noqa: N802
        self.producer = None


def test_nothing_is_sent_while_twisted_says_pause_and_then_only_the_newest() -> None:
    async def play(wire: Wire, _: Viewer) -> None:
        request = Request()
        viewer = viewer_on(wire, PushedBack(request))
        request.producer.pauseProducing()
        for number in range(10):
            viewer.show(frame(str(number)))
            await settle()
        assert wire.sent == []
        request.producer.resumeProducing()
        await settle()
        viewer.end("")
        await settle()
        assert request.producer is None

    assert scenario(play).text == "retry: 1\ndata: 9\n\n"


def test_without_push_back_a_stream_ends_before_a_stalled_reader_costs_too_much() -> None:
    async def play(wire: Wire, _: Viewer) -> None:
        viewer = viewer_on(wire, Connection(budget_bytes=100))
        while not wire.ended:
            viewer.show(frame("x" * 30))
            await settle()

    assert len(scenario(play).text) < 300


def test_a_daphne_that_has_changed_inside_is_taken_for_one_without_push_back() -> None:

    async def handle_reply(request: object, message: object) -> None: ...

    assert connection_of(partial(handle_reply, object())).budget_bytes == BLIND_BUDGET_BYTES
    assert isinstance(connection_of(partial(handle_reply, Request())), PushedBack)
    assert connection_of(handle_reply).budget_bytes is None
