"""Many open pages at once, each as the page's own script comes back to a stream that ended."""

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

CAP_S = 60.0


@dataclass
class Page:
    """One viewer: what it shows, and when it was connected."""

    version: str = ""
    shown: Any = None
    connected_at: list[float] = field(default_factory=list)
    retry_s: float = 1.0


@contextmanager
def watching(port: int, path: str, cookie: str, *, n_pages: int) -> Iterator[list[Page]]:
    """Pages that watch a stream in a thread of their own until the block ends."""
    pages = [Page() for _ in range(n_pages)]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    tasks = [
        asyncio.run_coroutine_threadsafe(_watch(page, port, path, cookie), loop) for page in pages
    ]
    try:
        yield pages
    finally:
        for task in tasks:
            task.cancel()
        asyncio.run_coroutine_threadsafe(_settle(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def delay_s(attempt: int, base_s: float, share: float) -> float:
    """As ``delayMs`` of static/js/retry.js, in seconds."""
    window = min(base_s * 2.0 ** min(attempt, 16), CAP_S)
    return window if attempt == 0 else window / 2 + window / 2 * share


async def _watch(page: Page, port: int, path: str, cookie: str) -> None:
    attempt = 0
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n"
                writer.write(f"{head}Accept: text/event-stream\r\n\r\n".encode())
                if await _read(page, reader):
                    attempt = 0
            finally:
                writer.close()
        await asyncio.sleep(delay_s(attempt, page.retry_s, random.random()))
        attempt += 1


async def _read(page: Page, reader: asyncio.StreamReader) -> bool:
    """Follow one answer to its end; whether it was a stream."""
    if b" 200 " not in await reader.readline():
        return False
    page.connected_at.append(time.monotonic())
    while line := await reader.readline():
        name, _, value = line.decode().rstrip("\r\n").partition(": ")
        if name == "retry":
            page.retry_s = int(value) / 1000
        elif name == "id":
            page.version = value
        elif name == "data":
            page.shown = json.loads(value)
    return True


async def _settle() -> None:
    """Let whatever was cancelled end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
