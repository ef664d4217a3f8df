"""How big and how long a run is."""

from dataclasses import dataclass

from benchmarks.claims.meter import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Numbers of jobs, and how long each rate is measured."""

    name: str
    shallow: int
    deep: int
    done: int
    capped_head: int
    running: int
    churn: int
    snapshot_claims: int
    enqueued: int
    n_claims: int
    guilds: tuple[int, ...]
    timing: Timing

    def floor(self, depth: int) -> int:
        """What is kept waiting while workers take from ``depth``; a deep queue is not refilled."""
        return depth if depth <= 50_000 else depth // 2


SMALL = Size(
    name="small",
    shallow=1_000,
    deep=20_000,
    done=20_000,
    capped_head=4_000,
    running=1_000,
    churn=10_000,
    snapshot_claims=2_000,
    enqueued=10_000,
    n_claims=200,
    guilds=(10, 1_000),
    timing=Timing(window_s=2, warm_s=0.5, limit_s=1, rounds=5),
)
FULL = Size(
    name="full",
    shallow=1_000,
    deep=1_000_000,
    done=1_000_000,
    capped_head=200_000,
    running=1_000,
    churn=500_000,
    snapshot_claims=50_000,
    enqueued=100_000,
    n_claims=500,
    guilds=(10, 1_000, 10_000),
    timing=Timing(window_s=4, warm_s=1.5, limit_s=2, rounds=5),
)
SIZES = {size.name: size for size in (SMALL, FULL)}
