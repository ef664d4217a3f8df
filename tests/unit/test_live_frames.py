"""Events as they go over the wire."""

import pytest

from console.live.frames import HEADERS, PIECE_BYTES, event, frame, last_words, opening


def test_an_event_carries_its_name_its_version_and_every_line() -> None:
    sent = event("one\ntwo", name="snapshot", version="7.ab")

    assert sent == b"event: snapshot\nid: 7.ab\ndata: one\ndata: two\n\n"


def test_an_event_without_a_name_is_a_message() -> None:
    assert event("x", version="7.ab") == b"id: 7.ab\ndata: x\n\n"


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_no_line_end_in_a_title_ends_the_event_or_begins_a_field(line_end: str) -> None:
    sent = event(f"<b>{line_end}{line_end}event: end{line_end}</b>")

    assert sent == b"data: <b>\ndata: \ndata: event: end\ndata: </b>\n\n"


def test_other_breaks_of_unicode_stay_in_the_text() -> None:
    text = "a\u2028b\u0085c\x0bd\x0ce\x1cf"

    assert event(text) == f"data: {text}\n\n".encode()


def test_a_lone_surrogate_does_not_end_the_stream() -> None:
    assert event("a\ud800b") == b"data: a?b\n\n"


def test_a_frame_in_pieces_is_the_event() -> None:
    data = "ä" * (3 * PIECE_BYTES)

    pieces = frame(data, version="1.x").messages

    assert b"".join(piece["body"] for piece in pieces) == event(data, version="1.x")
    assert len(pieces) > 5
    assert all(piece["more_body"] and len(piece["body"]) <= PIECE_BYTES for piece in pieces)


def test_the_opening_is_a_line_of_the_first_event() -> None:
    assert opening(1500)["body"] + event("x") == b"retry: 1500\ndata: x\n\n"


def test_the_last_words_say_why_and_end_the_answer() -> None:
    assert last_words("signed-out") == {
        "type": "http.response.body",
        "body": b"event: end\ndata: signed-out\n\n",
        "more_body": False,
    }
    assert last_words("")["body"] == b""


def test_the_headers_keep_everybody_from_holding_a_stream_back() -> None:
    headers = dict(HEADERS)

    assert headers[b"content-encoding"] == b"identity"
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x-accel-buffering"] == b"no"
