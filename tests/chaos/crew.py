"""The processes of a run: started, killed, stopped past their leases, and started again."""

import random
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.plan import LEASE_S, Plan

PROJECT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 30


@dataclass
class Member:
    """One of the places in the crew, and the process that has it now."""

    number: int
    is_worker: bool
    process: subprocess.Popen[bytes]
    name: str
    is_killed: bool = False
    continue_at: float | None = None


@dataclass
class Crew:
    """Claimers and worker commands. ``died`` tells of those that ended without our doing."""

    plan: Plan
    folder: Path
    chance: random.Random
    members: list[Member] = field(default_factory=list)
    died: list[str] = field(default_factory=list)
    n_started: int = 0
    # In turn, so that also a short run meets both kinds of process.
    kill_order: deque[int] = field(default_factory=deque)
    stop_order: deque[int] = field(default_factory=deque)

    def start(self) -> None:
        n_workers = self.plan.n_workers
        numbers = range(self.plan.n_claimers + n_workers)
        self.members = [self._member(number, is_worker=number < n_workers) for number in numbers]
        for order in (self.kill_order, self.stop_order):
            order.extend(self.chance.sample(numbers, len(numbers)))

    def kill(self) -> bool:
        """Kill the next one, at once; False while it is stopped or not yet replaced."""
        member = self.members[self.kill_order[0]]
        if not _is_up(member):
            return False
        self.kill_order.rotate(-1)
        member.process.kill()
        member.is_killed = True
        return True

    def stop(self) -> bool:
        """Stop the next one for longer than a lease holds; False as in ``kill``."""
        member = self.members[self.stop_order[0]]
        if not _is_up(member):
            return False
        self.stop_order.rotate(-1)
        member.process.send_signal(signal.SIGSTOP)
        member.continue_at = time.monotonic() + LEASE_S * self.chance.uniform(1.2, 2.5)
        return True

    def tend(self) -> None:
        """Let go on whose time has come, and put somebody in the place of who is gone."""
        for place, member in enumerate(self.members):
            if member.continue_at is not None and time.monotonic() >= member.continue_at:
                _go_on(member)
            if member.process.poll() is not None:
                if not member.is_killed:
                    self.died.append(f"{member.name} ended with {member.process.returncode}")
                self.members[place] = self._member(member.number, is_worker=member.is_worker)

    def end(self) -> None:
        """Let everybody finish what they are at, late writes included, and leave."""
        for member in self.members:
            _go_on(member)
            member.process.send_signal(signal.SIGTERM)
        for member in self.members:
            try:
                code = member.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.died.append(f"{member.name} does not leave")
                continue
            # One that was just started does not hear yet that it is asked to leave.
            if code not in (0, -signal.SIGTERM) and not member.is_killed:
                self.died.append(f"{member.name} left with {code}")

    def _member(self, number: int, *, is_worker: bool) -> Member:
        self.n_started += 1
        name = f"{'worker' if is_worker else 'claimer'}-{number}-{self.n_started}"
        words = ["manage.py", "worker", "--concurrency", "2"]
        if not is_worker:
            # Two places to a name, and the next process of a place takes it over.
            principal, seed = f"account:chaos@host/{number // 2}", self.chance.randrange(2**32)
            words = ["-m", "tests.chaos.claimer", name, principal, str(seed)]
            words.append(str(self.folder / "diaries"))
        with (self.folder / "logs" / f"{name}.jsonl").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return Member(number, is_worker, process, name)


@contextmanager
def crew_of(plan: Plan, folder: Path, chance: random.Random) -> Iterator[Crew]:
    """A started crew of which nobody outlives the block."""
    crew = Crew(plan, folder, chance)
    try:
        crew.start()
        yield crew
    finally:
        for member in crew.members:
            if member.process.poll() is None:
                member.process.kill()
            member.process.wait()


def _is_up(member: Member) -> bool:
    return member.continue_at is None and not member.is_killed


def _go_on(member: Member) -> None:
    if member.continue_at is not None:
        member.process.send_signal(signal.SIGCONT)
        member.continue_at = None
