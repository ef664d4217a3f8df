"""Fetching a track over http(s) into a temporary file, within limits of size and time."""

import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, cast
from urllib.parse import urlsplit

from guildqueue.worker.handler import PermanentFailure
from recordings.errors import one_line

MAX_BYTES = 8 * 2**30
MAX_SECONDS = 1800.0
SILENCE_SECONDS = 30.0
_CHUNK_BYTES = 2**18
# Answers that another try may change; every other 4xx stays what it is.
_PASSING = frozenset({408, 425, 429})


class FetchFailed(Exception):
    """The audio could not be fetched this time; another try may do."""


@contextmanager
def fetched(
    url: str, *, max_bytes: int = MAX_BYTES, max_seconds: float = MAX_SECONDS
) -> Iterator[Path]:
    """The body of ``url`` as a file, removed on leaving.

    Raises PermanentFailure for an address that will not give audio, FetchFailed for one
    that may later.
    """
    with tempfile.TemporaryDirectory(prefix="guildqueue-audio-") as folder:
        target = Path(folder) / f"track{_suffix(url)}"
        try:
            with _opened(url) as response, target.open("wb") as sink:
                _copy(url, response, sink, max_bytes=max_bytes, max_seconds=max_seconds)
        except (OSError, HTTPException, ValueError) as error:
            raise FetchFailed(f"{_shown(url)}: {one_line(str(error) or repr(error))}") from error
        yield target


def _opened(url: str) -> HTTPResponse:
    # Not build_opener(): that one also follows a redirect to ftp:// and reads data:.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    opener.addheaders = [("User-Agent", "guild-queue"), ("Accept", "audio/*,*/*")]
    try:
        response = opener.open(url, timeout=SILENCE_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        status = f"{_shown(url)} answers {error.code}"
        if error.code < 400:  # a circle, or a scheme that urllib itself does not follow
            raise PermanentFailure(f"{_shown(url)} leads nowhere over http.") from error
        if error.code < 500 and error.code not in _PASSING:
            raise PermanentFailure(f"The audio at {status}.") from error
        raise FetchFailed(status) from error
    if response is None:  # a redirect to a scheme that no handler here takes
        raise PermanentFailure(f"{_shown(url)} leads nowhere over http.")
    return cast(HTTPResponse, response)


def _copy(
    url: str, response: HTTPResponse, sink: IO[bytes], *, max_bytes: int, max_seconds: float
) -> None:
    ends_at = time.monotonic() + max_seconds
    n_bytes = 0
    expected = response.length
    if expected is not None and expected > max_bytes:
        raise _too_large(url, max_bytes)
    # read1, not read: a server that trickles must not outlast the clock inside one call.
    while piece := response.read1(_CHUNK_BYTES):
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            raise _too_large(url, max_bytes)
        if time.monotonic() > ends_at:
            raise FetchFailed(f"{_shown(url)} took longer than {max_seconds:g} s")
        sink.write(piece)
    if expected is not None and n_bytes < expected:
        raise FetchFailed(f"{_shown(url)} ended after {n_bytes} of {expected} bytes")
    if n_bytes == 0:
        raise PermanentFailure(f"The audio at {_shown(url)} is empty.")


def _too_large(url: str, max_bytes: int) -> PermanentFailure:
    return PermanentFailure(f"The audio at {_shown(url)} is larger than {max_bytes} bytes.")


def _shown(url: str) -> str:
    """The address without what may be secret in it: user, password and query."""
    parts = urlsplit(url)
    return one_line(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", 200)


def _suffix(url: str) -> str:
    suffix = Path(urlsplit(url).path).suffix
    return suffix if suffix[1:].isalnum() and len(suffix) <= 6 else ""
