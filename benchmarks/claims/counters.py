"""What the workers of a run have done: counts that their processes share, without a database.

Standard library only, as handlers of every peer and of ours import it. A slot a process: the number
of jobs begun, and when the latest one began, in nanoseconds of the monotonic clock.
"""

import mmap
import os
import time
from pathlib import Path

N_SLOTS = 4096  # by process id; two of a run never share one
PATH_NAME = "BENCH_COUNTERS"
_SIZE = N_SLOTS * 16


class Counters:
    """A view of the shared file at ``path``."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self._slots = memoryview(self._map).cast("q")

    @classmethod
    def create(cls, path: Path) -> "Counters":
        """A new file, all counts 0."""
        path.write_bytes(bytes(_SIZE))
        return cls(path)

    def count(self) -> None:
        """One more job was begun by this process."""
        slot = 2 * (os.getpid() % N_SLOTS)
        self._slots[slot + 1] = time.monotonic_ns()
        self._slots[slot] += 1

    @property
    def total(self) -> int:
        """How many jobs were begun by all."""
        return sum(self._slots[::2].tolist())

    @property
    def n_busy(self) -> int:
        """How many processes have begun any."""
        return sum(n > 0 for n in self._slots[::2].tolist())

    @property
    def latest_ns(self) -> int:
        """When the latest job began."""
        return max(self._slots[1::2].tolist())


_ours: Counters | None = None


def count() -> None:
    """Count a job in the file that the environment names."""
    global _ours  # noqa: PLW0603  opened once a process, by the first job
    if _ours is None:
        _ours = Counters(Path(os.environ[PATH_NAME]))
    _ours.count()
