"""Thousands of open pages in one process, told what to do line by line on standard input.

Usage: python -m benchmarks.live_client PORT PATH COOKIE

Commands and their answers, each a line of JSON (moments are of the system's monotonic clock):
  open N RATE   open N more, RATE a second (0: all at once) -> when the last had its first frame
  expect        from now on wait for one more frame on every page -> at once
  wait          -> when the last, and the median, page had that frame, in full
  stall N       open N that read their first frame and then nothing more
  resume        let them read on -> the versions they end up with, and the newest there is
  close         close all
"""

import asyncio
import json
import re
import statistics
import sys
import time
from typing import Any

import uvloop

FRAME_END = b"]}\n\n"
VERSION = re.compile(rb"id: ([0-9]+)\.")


class Page(asyncio.Protocol):
    """One open stream; ``done`` is called with each frame that is whole."""

    def __init__(self, client: "Client") -> None:
        self.client = client
        self.tail = b""
        self.n_frames = 0
        self.version = 0
        self.seen_at = 0.0
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self.client.request)

    def data_received(self, data: bytes) -> None:
        known = self.tail + data
        for match in VERSION.finditer(known):
            self.version = int(match[1])
        if FRAME_END in known:
            self.n_frames += 1
            self.client.frame_came(self)
        self.tail = data[-64:].rpartition(FRAME_END)[2]


class Client:
    """All pages, and how many of them wait for their next frame."""

    def __init__(self, port: int, path: str, cookie: str) -> None:
        self.port = port
        self.request = (
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()
        self.pages: list[Page] = []
        self.stalled: list[Page] = []
        self.missing: set[Page] = set()
        self.complete = asyncio.Event()

    def frame_came(self, page: Page) -> None:
        page.seen_at = time.monotonic()
        self.missing.discard(page)
        if not self.missing:
            self.complete.set()

    def expect(self, pages: list[Page]) -> None:
        self.missing = set(pages)
        self.complete.clear()

    async def connect(self, n: int, rate: float) -> list[Page]:
        loop = asyncio.get_running_loop()
        made: list[Page] = []

        async def one() -> Page:
            page = Page(self)
            made.append(page)
            self.missing.add(page)
            await loop.create_connection(lambda: page, "127.0.0.1", self.port)
            return page

        self.expect([])
        tasks = []
        for number in range(n):
            tasks.append(asyncio.ensure_future(one()))
            if rate and number % 10 == 9:
                await asyncio.sleep(10 / rate)
        await asyncio.gather(*tasks)
        if self.missing:
            await asyncio.wait_for(self.complete.wait(), 120)
        return made

    async def open(self, n: float, rate: float) -> dict[str, Any]:
        begun = time.monotonic()
        self.pages += await self.connect(int(n), rate)
        return {"took_s": time.monotonic() - begun}

    async def begin(self) -> dict[str, Any]:
        self.expect(self.pages)
        return {}

    async def wait(self) -> dict[str, Any]:
        await asyncio.wait_for(self.complete.wait(), 120)
        seen = [page.seen_at for page in self.pages]
        return {"last": max(seen), "median": statistics.median(seen)}

    async def stall(self, n: float) -> dict[str, Any]:
        self.stalled = await self.connect(int(n), 100)
        for page in self.stalled:
            page.transport.pause_reading()
        return {}

    async def resume(self) -> dict[str, Any]:
        for page in self.stalled:
            page.transport.resume_reading()
        await asyncio.sleep(3)
        versions = sorted({page.version for page in self.stalled})
        return {"versions": versions, "newest": self.pages[0].version}

    async def close(self) -> dict[str, Any]:
        for page in (*self.pages, *self.stalled):
            page.transport.abort()
        self.pages, self.stalled = [], []
        return {}


async def main(port: str, path: str, cookie: str) -> None:
    """Obey until standard input ends."""
    client = Client(int(port), path, cookie)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        word, *numbers = line.split()
        obey = {
            "open": client.open, "expect": client.begin, "wait": client.wait,
            "stall": client.stall, "resume": client.resume, "close": client.close,
        }[word]  # fmt: skip
        answer = await obey(*map(float, numbers))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
