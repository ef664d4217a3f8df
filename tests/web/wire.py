"""A wire to the database that can be cut, go silent, or swallow what is notified."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto

import psycopg


class Mode(Enum):
    """What becomes of what goes over the wire."""

    PASSES = auto()
    CUT = auto()  # connections end, and new ones are refused
    SILENT = auto()  # connections stay, and nothing goes either way
    DEAF = auto()  # as behind a transaction pooler: all goes but notifications


class Wire:
    """Listens on a port of 127.0.0.1 and leads to the database of a URL."""

    def __init__(self, database_url: str) -> None:
        self.mode = Mode.PASSES
        self._target = psycopg.conninfo.conninfo_to_dict(database_url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._released = threading.Event()
        self._released.set()
        self._ended = False
        # Encryption would hide what is a notification.
        self.url = (
            f"postgresql://{self._target.get('user', '')}@127.0.0.1:"
            f"{self._listener.getsockname()[1]}/{self._target['dbname']}?sslmode=disable"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, mode: Mode) -> None:
        self.mode = mode
        if mode is Mode.SILENT:
            self._released.clear()
        else:
            self._released.set()
        if mode is Mode.CUT:
            self._cut()

    def close(self) -> None:
        self._ended = True
        self._released.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._cut()

    def _cut(self) -> None:
        for end in list(self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self._ended:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.mode is Mode.CUT:
                client.close()
                continue
            database = self._reach()
            self._open |= {client, database}
            for source, sink, is_answer in ((client, database, False), (database, client, True)):
                lead = (source, sink, is_answer)
                threading.Thread(target=self._lead, args=lead, daemon=True).start()

    def _reach(self) -> socket.socket:
        host, port = str(self._target["host"]), int(self._target.get("port") or 5432)
        if host.startswith("/"):
            database = socket.socket(socket.AF_UNIX)
            database.connect(f"{host}/.s.PGSQL.{port}")
            return database
        return socket.create_connection((host, port))

    def _lead(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._released.wait()
                if is_answer and self.mode is Mode.DEAF:
                    data, rest = without_notifications(rest + data)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        # Each end is closed by the thread that reads from it.
        source.close()
        self._open.discard(source)


def without_notifications(data: bytes) -> tuple[bytes, bytes]:
    """The whole messages of the server in ``data`` but for notifications, and what is left over.

    Source: PostgreSQL, "Message Formats": a type, a length of four bytes that counts itself.
    """
    kept, at = b"", 0
    while len(data) - at >= 5:
        end = at + 1 + int.from_bytes(data[at + 1 : at + 5])
        if end > len(data):
            break
        if data[at : at + 1] != b"A":
            kept += data[at:end]
        at = end
    return kept, data[at:]


@contextmanager
def wire_to(database_url: str) -> Iterator[Wire]:
    wire = Wire(database_url)
    try:
        yield wire
    finally:
        wire.close()
