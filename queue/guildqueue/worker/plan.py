"""What a worker takes and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """What a worker takes and how. ``handlers`` has a dotted path a kind.

    Each of ``concurrency`` places claims up to ``batch`` jobs at once. ``principal`` must be this
    process's alone: leases belong to it.
    """

    principal: str
    handlers: Mapping[str, str]
    environment: Mapping[str, str]
    ttl_s: float
    poll_s: float
    grace_s: float
    concurrency: int = 1
    batch: int = 1
    guilds: Sequence[GuildId] = ()
    once: bool = False

    @property
    def beat_every_s(self) -> float:
        """A third of the lease and not a moment more, so that two beats may be lost."""
        return self.ttl_s / 3

    @property
    def filter(self) -> JobFilter:
        """What it claims: only kinds for which it has a handler."""
        return JobFilter(kinds=frozenset(self.handlers), guilds=frozenset(self.guilds))
