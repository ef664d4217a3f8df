"""How large a run is, and what befalls it when: drawn from one seed."""

import random
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle

LEASE_S = 1.0


class Harm(StrEnum):
    """What a run does to its own processes and server, and an administrator to a running job."""

    KILL = "kill -9"
    STOP = "stop past the lease"
    CANCEL = "cancel of a running job"
    FAST = "fast restart"
    IMMEDIATE = "immediate restart"
    POSTMASTER = "kill -9 of the server"
    BACKEND = "kill -9 of one connection's process"


RESTARTS = (Harm.POSTMASTER, Harm.FAST, Harm.BACKEND, Harm.IMMEDIATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run. ``durable`` makes a server that syncs; ``limit_s`` is for the storm alone."""

    seed: int
    n_jobs: int
    n_claimers: int
    n_workers: int
    n_kills: int
    n_stops: int
    n_restarts: int
    n_cancels: int
    limit_s: float
    durable: bool = False

    def harms(self) -> list[tuple[float, Harm]]:
        """What happens, in order, each with the share of the jobs that have ended by then.

        By share and not by time, so that a slow machine sees as much of it as a fast one.
        """
        chance = random.Random(self.seed)
        kinds = [Harm.KILL] * self.n_kills + [Harm.STOP] * self.n_stops
        kinds += [Harm.CANCEL] * self.n_cancels
        kinds += [kind for kind, _ in zip(cycle(RESTARTS), range(self.n_restarts), strict=False)]
        return sorted((chance.uniform(0.02, 0.9), kind) for kind in kinds)


SMALL = Plan(
    seed=0,
    n_jobs=1_500,
    n_claimers=3,
    n_workers=1,
    n_kills=4,
    n_stops=4,
    n_restarts=1,
    n_cancels=5,
    limit_s=300,
)
FULL = Plan(
    seed=0,
    n_jobs=20_000,
    n_claimers=6,
    n_workers=2,
    n_kills=40,
    n_stops=40,
    n_restarts=8,
    n_cancels=100,
    limit_s=3_600,
    durable=True,
)
