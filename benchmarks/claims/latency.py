"""From an enqueue into an idle queue to the job's start, beside an UPDATE after the same gap."""

import random
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import psycopg

from benchmarks.claims import own
from benchmarks.claims.figures import quartiles, spread
from benchmarks.claims.meter import Workers, wait_until, working
from benchmarks.claims.report import Run
from benchmarks.claims.server import LIMIT_DATABASE, python
from benchmarks.claims.subjects import (
    DJANGO_TASKS_WORKER,
    PROCRASTINATE_WORKER,
    Subject,
    pgqueuer_worker,
)

ROUNDS = 15
GAP_S = (1.0, 2.0)
UPDATE = "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1"


@dataclass(slots=True, kw_only=True)
class Idle:
    """A queue with an idle worker, and a process that enqueues one when told."""

    subject: Subject
    workers: Workers
    enqueuer: "subprocess.Popen[str]"
    took: list[float] = field(default_factory=list)

    def tell(self) -> str:
        assert self.enqueuer.stdin is not None
        print(file=self.enqueuer.stdin, flush=True)
        return self.hear()

    def hear(self) -> str:
        assert self.enqueuer.stdout is not None
        said = self.enqueuer.stdout.readline().strip()
        if not said:
            raise RuntimeError(f"{self.subject.name}: what enqueues has ended")
        return said

    def once(self) -> float:
        """Milliseconds from just before an enqueue to the job's start."""
        counters = self.workers.counters
        before = counters.total
        begun_ns = int(self.tell())
        wait_until(lambda: counters.total > before, "the job's start", 30)
        return (counters.latest_ns - begun_ns) / 1e6


def run(run: Run) -> None:
    """All queues idle side by side; each in turn gets a job after a gap."""
    subjects = [
        own.worker(1), PROCRASTINATE_WORKER, DJANGO_TASKS_WORKER,
        pgqueuer_worker(10, "psycopg"), pgqueuer_worker(10, "asyncpg"),
    ]  # fmt: skip
    bare: list[float] = []
    with ExitStack() as stack:
        idle = [stack.enter_context(_idle(run, subject)) for subject in subjects]
        connection = stack.enter_context(run.server.connect(LIMIT_DATABASE))
        for round_ in range(ROUNDS + 1):
            bare.append(_update(connection))
            for queue in idle:
                time.sleep(random.uniform(*GAP_S))
                took = queue.once()
                if round_:  # the first starts processes and prepares statements
                    queue.took.append(took)
    bare = bare[1:]
    run.add("latency", "a bare UPDATE after an idle gap", f"{spread(bare, 1)} ms")
    for queue in idle:
        ratio = quartiles([took / statistics.median(bare) for took in queue.took])
        target = "<= 3, ahead of all" if queue.subject.queue is own.OWN else ""
        name = f"{queue.subject.name}, enqueue to start"
        run.add("latency", name, f"{spread(queue.took, 1)} ms", ratio=ratio, target=target)
        run.server.drop(queue.subject.database)


def _update(connection: "psycopg.Connection[object]") -> float:
    time.sleep(random.uniform(*GAP_S))
    begun = time.perf_counter()
    connection.execute(UPDATE, prepare=True)
    return 1000 * (time.perf_counter() - begun)


@contextmanager
def _idle(run: Run, subject: Subject) -> Iterator[Idle]:
    database = "bench_idle_" + "".join(c if c.isalnum() else "_" for c in subject.name)
    subject.queue.create(run.server, database)
    if subject.queue is own.OWN:
        own.fill(run.server, database, own.Shape(waiting=0, guilds=1))
    subject = subject.on(database)
    with (
        working(run.server, subject, 1) as workers,
        subprocess.Popen(
            python(*subject.queue.enqueuer),
            env=subject.environment(run.server),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as enqueuer,
    ):
        idle = Idle(subject=subject, workers=workers, enqueuer=enqueuer)
        idle.hear()
        try:
            yield idle
        finally:
            assert enqueuer.stdin is not None
            enqueuer.stdin.close()
