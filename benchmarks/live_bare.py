"""The limit beside which the hub is measured: a bare uvloop loop that writes the same bytes.

Usage: python -m benchmarks.live_bare PORT BYTES; every line on standard input is a broadcast.
"""

import asyncio
import sys
from typing import Any

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Bare(asyncio.Protocol):
    """A page: no more than its transport."""

    def __init__(self, everybody: set[Any], frame: bytes) -> None:
        self.everybody = everybody
        self.frame = frame
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, _data: bytes) -> None:
        self.everybody.add(self.transport)
        self.transport.write(HEAD + self.frame)

    def connection_lost(self, _error: Exception | None) -> None:
        self.everybody.discard(self.transport)


async def main(port: str, n_bytes: str) -> None:
    """Serve until standard input ends."""
    data = b"event: snapshot\nid: 1.x\ndata: {" + b"x" * int(n_bytes) + b"]}\n\n"
    frame = b"%x\r\n%b\r\n" % (len(data), data)
    everybody: set[Any] = set()
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: Bare(everybody, frame), "127.0.0.1", int(port), backlog=4096)
    print("ready", flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        for transport in everybody:
            transport.write(frame)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
