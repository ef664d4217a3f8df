"""How a rate is taken: start workers, let them warm up, and count for a while."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.claims import own
from benchmarks.claims.counters import PATH_NAME, Counters
from benchmarks.claims.figures import Figure, add_round
from benchmarks.claims.server import Server, python
from benchmarks.claims.subjects import Subject

START_LIMIT_S = 180.0
STOP_LIMIT_S = 20.0
FED_AT_LEAST = 500  # jobs at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds: of a window, of the warm-up before it, of a limit; and how many rounds."""

    window_s: float
    warm_s: float
    limit_s: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes under measurement, and what they have counted."""

    counters: Counters
    processes: Sequence["subprocess.Popen[bytes]"]

    def wait_until_busy(self) -> None:
        """Until all have begun a job. Raises TimeoutError, or ChildProcessError if one ended."""
        n = len(self.processes)
        wait_until(lambda: self.n_ended > 0 or self.counters.n_busy >= n, f"{n} workers at work")
        if self.n_ended:
            raise ChildProcessError("a worker ended")

    @property
    def n_ended(self) -> int:
        return sum(process.poll() is not None for process in self.processes)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for as long as this lasts."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        yield Path(folder)


@contextmanager
def working(server: Server, subject: Subject, n_workers: int) -> Iterator["Workers"]:
    """Worker processes of their own command line; what they print is thrown away, as is usual."""
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        counters = Counters.create(folder / "counters")
        env = subject.environment(server) | {PATH_NAME: str(folder / "counters")}
        log = stack.enter_context((folder / "log").open("wb"))
        processes = [
            subprocess.Popen(python(*subject.words), env=env, cwd=folder, stdout=log, stderr=log)
            for _ in range(n_workers)
        ]
        try:
            yield Workers(counters, processes)
        except (TimeoutError, ChildProcessError) as error:
            said = (folder / "log").read_text("utf-8", "replace")[-2000:]
            raise RuntimeError(f"{subject.name}: {error}\n{said}") from error
        finally:
            end(processes)


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask all, then end whoever does not."""
    for process in processes:
        process.terminate()
    give_up_at = time.monotonic() + STOP_LIMIT_S
    for process in processes:
        try:
            process.wait(max(0.1, give_up_at - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def fed(server: Server, subject: Subject, counters: Counters, floor: int | None) -> Iterator[None]:
    """Keep at least about ``floor`` jobs waiting; None where the workers see to that."""
    if floor is None:
        yield
        return
    with server.connect(subject.database) as connection, ExitStack() as stack:
        found = connection.execute(subject.queue.waiting).fetchone()
        waiting = int(found[0]) if found else 0
        if subject.queue is own.OWN:
            feed: Callable[[int], None] = stack.enter_context(
                own.feeder(server, subject.database)
            ).feed
        else:
            feed = lambda n: subject.queue.write(connection, subject.queue.insert, n)  # noqa: E731
        stop = threading.Event()
        thread = threading.Thread(target=_feed, args=(feed, counters, waiting - floor, stop))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _feed(
    feed: Callable[[int], None], counters: Counters, spare: int, stop: threading.Event
) -> None:
    """``spare`` is how many may be taken before the floor is reached."""
    while not stop.wait(0.03):
        missing = counters.total - spare
        if missing > 0:
            feed(max(FED_AT_LEAST, missing))
            spare += max(FED_AT_LEAST, missing)


def wait_until(is_so: Callable[[], bool], what: str, limit_s: float = START_LIMIT_S) -> None:
    """Raises TimeoutError."""
    give_up_at = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"not within {limit_s:g} s: {what}")
        time.sleep(0.005)


def rate(
    server: Server, subject: Subject, *, n_workers: int, floor: int | None, timing: Timing
) -> float:
    """Jobs a second over the window, all workers together, from when all of them are at work."""
    with (
        working(server, subject, n_workers) as workers,
        fed(server, subject, workers.counters, floor),
    ):
        workers.wait_until_busy()
        counters = workers.counters
        time.sleep(timing.warm_s)
        n_before, begun = counters.total, time.perf_counter()
        time.sleep(timing.window_s)
        n_after, ended = counters.total, time.perf_counter()
    return (n_after - n_before) / (ended - begun)


def side_by_side(
    server: Server,
    subjects: Sequence[Subject],
    *,
    n_workers: int,
    floor: int | None,
    timing: Timing,
) -> list[Figure]:
    """A figure a subject: in each round all of them in turn, with the limit between any two."""
    figures = [Figure() for _ in subjects]
    for _ in range(timing.rounds):
        rates, limits = [], [server.limit(clients=n_workers, seconds=timing.limit_s)]
        for subject in subjects:
            rates.append(rate(server, subject, n_workers=n_workers, floor=floor, timing=timing))
            limits.append(server.limit(clients=n_workers, seconds=timing.limit_s))
            note = f"  {subject.name} x{n_workers}: {rates[-1]:.0f}, limit {limits[-1]:.0f}"
            print(note, file=sys.stderr, flush=True)
        add_round(figures, rates, limits)
    return figures
