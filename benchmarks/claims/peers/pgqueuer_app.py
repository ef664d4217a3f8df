"""pgqueuer: what its own command line makes a worker of, on either of its drivers."""

import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pgqueuer
import psycopg
import uvloop
from pgqueuer import PgQueuer, Queries
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver

from benchmarks.claims.counters import count

# Names of the entrypoints, each with how many may run at once (0: any number).
ENTRYPOINTS = os.environ.get("BENCH_ENTRYPOINTS", "noop=0")


def entrypoints() -> list[tuple[str, int]]:
    """Names and limits."""
    pairs = [pair.split("=") for pair in ENTRYPOINTS.split(",")]
    return [(name, int(limit)) for name, limit in pairs]


@asynccontextmanager
async def on_psycopg() -> AsyncIterator[PgQueuer]:
    """On the driver that all the others use."""
    url = os.environ["DATABASE_URL"]
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        yield _registered(PgQueuer.from_psycopg_connection(connection))


@asynccontextmanager
async def on_asyncpg() -> AsyncIterator[PgQueuer]:
    """On the driver that its own documentation calls the fastest."""
    import asyncpg  # noqa: PLC0415  not wanted by the other

    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    try:
        yield _registered(PgQueuer.from_asyncpg_connection(connection))
    finally:
        await connection.close()


def _registered(queuer: PgQueuer) -> PgQueuer:
    async def noop(_job: Any) -> None:
        count()

    for name, limit in entrypoints():
        queuer.entrypoint(name, concurrency_limit=limit)(noop)
    return queuer


async def enqueue() -> None:
    """Enqueue one whenever a line comes in; as in told.py, but its enqueue is asynchronous."""
    url = os.environ["DATABASE_URL"]
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        queries = Queries(PsycopgDriver(connection))
        print("ready", flush=True)
        for _ in sys.stdin:  # nothing else has to go on meanwhile
            begun = time.monotonic_ns()
            await queries.enqueue("noop", None)
            print(begun, flush=True)


if __name__ == "__main__":
    # As its command does where uvloop is installed. The command itself, ``pgq run``, falls over its
    # own --log-level in this release; it calls just this.
    if sys.argv[1:]:
        driver = {"psycopg": on_psycopg, "asyncpg": on_asyncpg}[sys.argv[1]]
        uvloop.run(pgqueuer.run(driver, batch_size=int(sys.argv[2])))
    else:
        uvloop.run(enqueue())
