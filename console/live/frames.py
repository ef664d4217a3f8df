"""Server-sent events as they go over the wire: framed once, sent to every viewer unchanged.

Source: WHATWG HTML, "Server-sent events".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PIECE_BYTES = 16 * 1024
_LINE_END = re.compile("\r\n|\r|\n")

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # Whoever compresses a stream holds it back; this says that it is as it should be.
    (b"content-encoding", b"identity"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
)

Message = Mapping[str, Any]


def body(data: bytes, *, more: bool = True) -> Message:
    """The ASGI message that sends ``data``; the same one may go to any number of viewers."""
    return {"type": "http.response.body", "body": data, "more_body": more}


@dataclass(frozen=True, slots=True)
class Frame:
    """An event in pieces small enough that a reader who stalls in it keeps little of it waiting."""

    messages: tuple[Message, ...]


def event(data: str, *, name: str = "", version: str = "") -> bytes:
    """One event; every kind of line end in ``data`` arrives as a line feed."""
    fields = [f"event: {name}"] if name else []
    fields += [f"id: {version}"] if version else []
    fields += [f"data: {line}" for line in _LINE_END.split(data)]
    return ("\n".join(fields) + "\n\n").encode("utf-8", "replace")


def frame(data: str, *, name: str = "", version: str = "") -> Frame:
    """The event, ready for any number of viewers."""
    whole = event(data, name=name, version=version)
    starts = range(0, len(whole), PIECE_BYTES)
    return Frame(tuple(body(whole[start : start + PIECE_BYTES]) for start in starts))


def opening(retry_ms: int) -> Message:
    """What a stream begins with: when to come back should it end.

    No event of its own: some readers take ``retry`` from an event with data only, so it becomes
    the first line of the first frame.
    """
    return body(f"retry: {retry_ms}\n".encode())


HEARTBEAT = body(b": still here\n\n")
AWAY = body(event("The database does not answer.", name="away"))
BACK = body(event("The database answers again.", name="back"))


def last_words(reason: str) -> Message:
    """The last message of a stream, which says why; with "" it just ends, for all to come back."""
    return body(event(reason, name="end") if reason else b"", more=False)
