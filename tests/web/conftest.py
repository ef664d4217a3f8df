"""Servers in processes of their own, and what tests open on them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.web.streams import SERVERS, Reader, Server, serving


@pytest.fixture(scope="module", params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_url: str
) -> Iterator[Server]:
    """A console, once daphne's and once uvicorn's, that lives through a module's tests."""
    folder = tmp_path_factory.mktemp("server")
    with serving(request.param, folder, database_url) as running:
        yield running


@pytest.fixture
def opened(committed_db: None) -> Iterator[Callable[..., Reader]]:
    """Opens a stream of a server, as Reader.open does, and closes it with the test."""
    with ExitStack() as stack:

        def open_stream(server: Server, path: str, **headers: str) -> Reader:
            reader = Reader.open(server, path, **headers)
            stack.callback(reader.close)
            return reader

        yield open_stream
