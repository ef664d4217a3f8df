"""The client for threads: a loop over leases, each with its job's few calls."""

import atexit
import contextlib
import secrets
import time
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Self

import httpx2 as httpx

from guildqueue.client import wire
from guildqueue.client.errors import ConsoleAway, LeaseLost, RequestFailed
from guildqueue.client.heart import Heart, Held
from guildqueue.domain.filters import JobFilter

EVERYTHING = JobFilter()
RETRY_MOST_S = 30.0


class Lease:
    """A job that is this worker's until it is ended; heartbeats are sent meanwhile."""

    def __init__(self, client: "Client", held: Held) -> None:
        self._client = client
        self._held = held

    @property
    def job(self) -> Mapping[str, Any]:
        """The job as the API describes it."""
        return self._held.job

    @property
    def token(self) -> str:
        """The fencing token, for whatever the job writes elsewhere."""
        return self._held.token

    @property
    def is_ended(self) -> bool:
        return self._held.is_ended

    def report(self, progress: float) -> None:
        """Say at the next heartbeat how far it is, 0.0 to 1.0. Raises LeaseLost."""
        self._held.check()
        self._held.progress = min(max(progress, 0.0), 1.0)

    def check(self) -> None:
        """Raises LeaseLost if a heartbeat was told that the job is no longer this worker's."""
        self._held.check()

    def complete(
        self, result: Mapping[str, Any] | None = None, *, audio_seconds: float | None = None
    ) -> None:
        """The job is done. Raises LeaseLost, and then nothing was written."""
        self._end("complete", wire.completion(result, audio_seconds))

    def fail(self, error: str, *, permanent: bool = False) -> str:
        """``pending`` for another try later, or ``dead``. Raises LeaseLost."""
        return str(self._end("fail", wire.failure(error, permanent))["state"])

    def release(self) -> None:
        """Hand it back untouched. Raises LeaseLost."""
        self._end("release", {})

    def _end(self, verb: str, body: wire.Body) -> wire.Body:
        self._held.check()
        try:
            answer = self._client.send(self._held.path(verb), {"token": self.token, **body})
        except LeaseLost as lost:
            self._held.lost = lost
            self._client.heart.let_go(self._held)
            raise
        self._client.heart.let_go(self._held)
        return answer


class Client:
    """Calls as the token; to be closed, which hands back what it still holds.

    Whatever ends the program in Python's own way (Ctrl+C, ``sys.exit``) closes it too. A SIGTERM
    does so only where the program turns it into an exception.
    """

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:
        options: dict[str, Any] = {"base_url": url, "headers": wire.headers(token)}
        self._http = httpx.Client(**options, timeout=wire.timeout(0), transport=transport)
        # Its own connections: a job that uploads something never keeps a heartbeat waiting.
        self._beats = httpx.Client(**options, timeout=10.0, transport=transport)
        self.heart = Heart(self._beat)
        _open.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hand back what is still held, and end the heartbeats."""
        if self not in _open:
            return
        _open.discard(self)
        for held in self.heart.all_held():
            with contextlib.suppress(RequestFailed, ConsoleAway):
                Lease(self, held).release()
        self.heart.stop()
        self._http.close()
        self._beats.close()

    def send(self, path: str, body: wire.Body, *, wait_s: float = 0.0) -> wire.Body:
        """The answer to ``body``. Raises RequestFailed or ConsoleAway."""
        for _ in range(3):
            try:
                response = self._http.post(path, json=body, timeout=wire.timeout(wait_s))
                return wire.read_answer(response)
            except wire.UNSENT as error:
                away: Exception = error
                time.sleep(0.2)
            except httpx.HTTPError as error:
                raise ConsoleAway(str(error) or repr(error)) from error
        raise ConsoleAway(str(away)) from away

    def ready(self, wanted: JobFilter = EVERYTHING, *, limit: int = 50) -> list[wire.Body]:
        """What the next claims would take, in their order."""
        body = {"filter": wire.claim_filter(wanted), "limit": limit}
        return list(self.send("/api/ready", body)["jobs"])

    def jobs(self, wanted: JobFilter = EVERYTHING) -> Iterator[wire.Body]:
        """All jobs that fit, ascending, page by page."""
        after: str | None = None
        while True:
            page = self.send("/api/jobs/list", {"filter": wanted.to_json(), "after": after})
            yield from page["jobs"]
            after = page["after"]
            if after is None:
                return

    def claim(
        self,
        wanted: JobFilter = EVERYTHING,
        *,
        count: int = 1,
        ttl_s: float = 60.0,
        wait_s: float = 0.0,
        request_id: str | None = None,
    ) -> list[Lease]:
        """Up to ``count`` leases, waiting up to ``wait_s`` (at most 60) for the first."""
        body = wire.claim_body(
            wanted,
            count=count,
            ttl_s=ttl_s,
            wait_s=wait_s,
            request_id=request_id or secrets.token_hex(16),
        )
        found = self.send("/api/claims", body, wait_s=body["wait"])["leases"]
        leases = [Lease(self, Held(lease["job"], lease["token"], ttl_s)) for lease in found]
        for lease in leases:
            self.heart.hold(lease._held)
        return leases

    def leases(
        self, wanted: JobFilter = EVERYTHING, *, ttl_s: float = 60.0, wait_s: float = 20.0
    ) -> Iterator[Lease]:
        """One lease after the other, for ever; with ``wait_s`` 0.0 until there is no work.

        A lease that the loop's body neither ended nor lost is handed back. While the console is
        away it waits. Raises RequestFailed for a token or a filter that may not.
        """
        pause_s, request_id = 0.5, secrets.token_hex(16)
        while True:
            try:
                found = self.claim(wanted, ttl_s=ttl_s, wait_s=wait_s, request_id=request_id)
            except ConsoleAway:
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_MOST_S)
                # Asked again by its own name: it may have been heard, and is then known.
                continue
            except (KeyboardInterrupt, SystemExit):
                self._take_back(wanted, request_id)
                raise
            pause_s, request_id = 0.5, secrets.token_hex(16)
            if not found and wait_s <= 0:
                return
            for lease in found:
                try:
                    yield lease
                finally:
                    self._hand_back(lease)

    def _hand_back(self, lease: Lease) -> None:
        if not lease.is_ended:
            with contextlib.suppress(RequestFailed, ConsoleAway):
                lease.release()
            self.heart.let_go(lease._held)

    def _take_back(self, wanted: JobFilter, request_id: str) -> None:
        """Release what an interrupted claim may have been given: the same request gets the same."""
        with contextlib.suppress(RequestFailed, ConsoleAway):
            for lease in self.claim(wanted, ttl_s=5.0, request_id=request_id):
                self._hand_back(lease)

    def _beat(self, path: str, body: wire.Body) -> wire.Body:
        try:
            return wire.read_answer(self._beats.post(path, json=body))
        except httpx.HTTPError as error:
            raise ConsoleAway(str(error) or repr(error)) from error


_open: "weakref.WeakSet[Client]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for client in list(_open):
        client.close()
