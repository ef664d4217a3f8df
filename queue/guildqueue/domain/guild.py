"""A guild: the tenant that everything belongs to."""

from dataclasses import dataclass
from datetime import datetime

from guildqueue.domain.ids import GuildId
from guildqueue.domain.snapshot import GuildCounts, HoldNote


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildRecord:
    """A guild's own record. ``root`` is where its ``queue.toml`` lies, None for the default.

    ``running_cap`` is the most jobs that may run at once, None for the deployment's default.
    """

    id: GuildId
    name: str
    root: str | None
    running_cap: int | None
    hold: HoldNote | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildSummary:
    """One line of the guild list.

    ``n_sessions`` have something outstanding. ``last_finished_at`` is when a job was last done:
    not one that died or was cancelled; None if none is among the 1,000 that ended last.
    """

    id: GuildId
    name: str
    hold: HoldNote | None
    counts: GuildCounts
    n_sessions: int
    next_title: str | None
    last_finished_at: datetime | None
