"""What a worker process keeps in memory at rest: before any job, and after some no-op ones."""

import time

import psutil

from benchmarks.claims import own
from benchmarks.claims.meter import Workers, wait_until, working
from benchmarks.claims.report import Run
from benchmarks.claims.subjects import (
    DJANGO_TASKS_WORKER,
    PROCRASTINATE_WORKER,
    Subject,
    pgqueuer_worker,
)

MIB = 1024 * 1024
N_JOBS = 20
REST_S = 3.0


def run(run: Run) -> None:
    """Resident memory as ps shows it, and what would be free if it ended (unique)."""
    for subject in (
        own.worker(1), PROCRASTINATE_WORKER, DJANGO_TASKS_WORKER, pgqueuer_worker(10, "psycopg"),
    ):  # fmt: skip
        database = f"{subject.queue.database}_rest"
        subject.queue.create(run.server, database)
        with working(run.server, subject.on(database), 1) as workers:
            _measure(run, subject, workers, database)
        run.server.drop(database)


def _measure(run: Run, subject: Subject, workers: Workers, database: str) -> None:
    process = psutil.Process(workers.processes[0].pid)
    target = "<= 60 MiB" if subject.queue is own.OWN else ""
    _rest(process)
    run.add("memory", f"{subject.name}, before any job", _memory(process), target=target)
    subject.queue.fill(run.server, database, waiting=N_JOBS, done=0)
    wait_until(lambda: workers.counters.total >= N_JOBS, "the jobs")
    _rest(process)
    for child in process.children(recursive=True):
        run.add("memory", f"{subject.name}, its handler's process after jobs", _memory(child))
    run.add("memory", f"{subject.name}, after jobs", _memory(process), target=target)


def _rest(process: psutil.Process) -> None:
    """Until it has used next to no processor for a while."""

    def is_resting() -> bool:
        before = sum(process.cpu_times()[:2])
        time.sleep(REST_S)
        return bool(sum(process.cpu_times()[:2]) - before < 0.05 * REST_S)

    wait_until(is_resting, "a worker at rest", 60)


def _memory(process: psutil.Process) -> str:
    found = process.memory_full_info()
    return f"{found.rss / MIB:.1f} MiB resident, {found.uss / MIB:.1f} unique"
