"""What claims would take: the lane, and each guild's line as far as it is needed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import Job
from guildqueue.store.job_rows import job_from_row
from guildqueue.store.scopes import ClaimScope
from guildqueue.store.statements import filled_in, rows, sole


class Line(NamedTuple):
    """Jobs in claim order, and how many more each of their guilds may start, None without a cap."""

    jobs: list[Job]
    slots: dict[GuildId, int | None]


def read_lane(scope: ClaimScope, *, limit: int) -> Line:
    """The claimable jobs of the lane; of each guild at most ``limit`` waiting and lost ones."""
    return _line(rows("read_lane_line", {**scope._asdict(), "limit": limit}))


def read_turns(scope: ClaimScope, *, last: GuildId | None, limit: int) -> Line:
    """The same outside the lane, of the first ``limit`` guilds that have a turn after ``last``."""
    params = {"last": last or 0, "n_guilds": limit, "limit": limit, "is_lane_apart": True}
    return _line(rows("read_guild_lines", {**scope._asdict(), **params}))


def read_all(scope: ClaimScope, *, limit: int) -> Line:
    """The same of every guild, its lane among them. Cost: ``limit`` rows a guild."""
    params = {"last": 0, "n_guilds": None, "limit": limit, "is_lane_apart": False}
    return _line(rows("read_guild_lines", {**scope._asdict(), **params}))


def count_held(scope: ClaimScope) -> int:
    """How many jobs would be claimable but for a hold."""
    return int(sole("count_held", scope._asdict()).n)


def count_claimable(scope: ClaimScope) -> dict[str, int]:
    """How many jobs claims would take, by kind; a kind of which there are none is left out."""
    return {found.kind: found.n for found in rows("count_claimable", scope._asdict())}


def claimable_query(scope: ClaimScope) -> str:
    """The statement of ``count_claimable`` with the scope in it, its kinds added up."""
    counting = filled_in("count_claimable", scope._asdict()).rstrip(";")
    return f"SELECT coalesce(sum(n), 0)::bigint AS depth FROM (\n{counting}\n) AS by_kind"  # noqa: S608


def _line(found: Iterable[Any]) -> Line:
    line = Line([], {})
    for row in found:
        line.jobs.append(job_from_row(row))
        line.slots[GuildId(row.guild_id)] = row.n_free
    return line
