"""The client for asyncio; its heartbeats still come from a thread, which no busy loop starves."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, Self, TypeVar

from guildqueue.client.errors import ConsoleAway, RequestFailed
from guildqueue.client.sync import EVERYTHING, RETRY_MOST_S, Client, Lease
from guildqueue.domain.filters import JobFilter

T = TypeVar("T")


async def _aside(call: Callable[[], T]) -> T:
    """``call`` in a thread, waited for to its end even by whoever is cancelled meanwhile."""
    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):
            await running
        raise


class AsyncLease:
    """A job that is this worker's until it is ended; heartbeats are sent meanwhile."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    @property
    def job(self) -> Mapping[str, Any]:
        """The job as the API describes it."""
        return self._lease.job

    @property
    def token(self) -> str:
        """The fencing token, for whatever the job writes elsewhere."""
        return self._lease.token

    @property
    def is_ended(self) -> bool:
        return self._lease.is_ended

    def report(self, progress: float) -> None:
        """Say at the next heartbeat how far it is, 0.0 to 1.0. Raises LeaseLost."""
        self._lease.report(progress)

    def check(self) -> None:
        """Raises LeaseLost if a heartbeat was told that the job is no longer this worker's."""
        self._lease.check()

    async def complete(
        self, result: Mapping[str, Any] | None = None, *, audio_seconds: float | None = None
    ) -> None:
        """The job is done. Raises LeaseLost, and then nothing was written."""
        await _aside(partial(self._lease.complete, result, audio_seconds=audio_seconds))

    async def fail(self, error: str, *, permanent: bool = False) -> str:
        """``pending`` for another try later, or ``dead``. Raises LeaseLost."""
        return await _aside(partial(self._lease.fail, error, permanent=permanent))

    async def release(self) -> None:
        """Hand it back untouched. Raises LeaseLost."""
        await _aside(self._lease.release)


class AsyncClient:
    """The same calls without blocking the event loop; each runs in a thread of its own."""

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:
        self._client = Client(url, token, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Hand back what is still held, and end the heartbeats."""
        await _aside(self._client.close)

    async def ready(self, wanted: JobFilter = EVERYTHING, *, limit: int = 50) -> list[Any]:
        """What the next claims would take, in their order."""
        return await _aside(partial(self._client.ready, wanted, limit=limit))

    async def jobs(self, wanted: JobFilter = EVERYTHING) -> AsyncIterator[Mapping[str, Any]]:
        """All jobs that fit, ascending, page by page."""
        pages = self._client.jobs(wanted)
        while (job := await _aside(lambda: next(pages, None))) is not None:
            yield job

    async def claim(
        self,
        wanted: JobFilter = EVERYTHING,
        *,
        count: int = 1,
        ttl_s: float = 60.0,
        wait_s: float = 0.0,
        request_id: str | None = None,
    ) -> list[AsyncLease]:
        """Up to ``count`` leases. Cancelled, it hands back what it is given all the same."""
        call = partial(
            self._client.claim,
            wanted,
            count=count,
            ttl_s=ttl_s,
            wait_s=wait_s,
            request_id=request_id,
        )
        running = asyncio.ensure_future(asyncio.to_thread(call))
        try:
            return [AsyncLease(lease) for lease in await asyncio.shield(running)]
        except asyncio.CancelledError:
            with contextlib.suppress(RequestFailed, ConsoleAway):
                for lease in await running:
                    await _aside(lease.release)
            raise

    async def leases(
        self, wanted: JobFilter = EVERYTHING, *, ttl_s: float = 60.0, wait_s: float = 5.0
    ) -> AsyncIterator[AsyncLease]:
        """One lease after the other, for ever; with ``wait_s`` 0.0 until there is no work.

        A lease that the loop's body neither ended nor lost is handed back. Cancelling the task
        takes effect when a claim under way is answered, at most ``wait_s`` later.
        """
        pause_s, request_id = 0.5, secrets.token_hex(16)
        while True:
            try:
                found = await self.claim(wanted, ttl_s=ttl_s, wait_s=wait_s, request_id=request_id)
            except ConsoleAway:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_MOST_S)
                # Asked again by its own name: it may have been heard, and is then known.
                continue
            pause_s, request_id = 0.5, secrets.token_hex(16)
            if not found and wait_s <= 0:
                return
            for lease in found:
                try:
                    yield lease
                finally:
                    if not lease.is_ended:
                        with contextlib.suppress(RequestFailed, ConsoleAway):
                            await lease.release()
