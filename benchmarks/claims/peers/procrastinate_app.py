"""procrastinate: its app and no-op task; worked by its own command line."""

import os

import procrastinate

from benchmarks.claims.counters import count
from benchmarks.claims.told import enqueue_when_told

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["DATABASE_URL"])
)


@app.task(name="noop")
async def noop() -> None:
    """Asynchronous, which spares it a thread a job."""
    count()


def main() -> None:
    """Enqueue one whenever a line comes in."""
    connector = procrastinate.SyncPsycopgConnector(conninfo=os.environ["DATABASE_URL"])
    with app.replace_connector(connector) as synchronous, synchronous.open():
        enqueue_when_told(noop.defer)


if __name__ == "__main__":
    main()
