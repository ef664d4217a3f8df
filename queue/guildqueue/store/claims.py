"""What a claim looks at, locks and takes."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from psycopg.pq import Format

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Lease
from guildqueue.domain.order import ClaimKey, claim_key
from guildqueue.store.job_rows import lease_from_row
from guildqueue.store.scopes import ClaimScope
from guildqueue.store.statements import execute, row, rows, sole


class Taker(NamedTuple):
    """Who claims, for how many seconds, and under which request of theirs."""

    principal: str
    ttl_s: float
    request_id: str | None


class Head(NamedTuple):
    """The first claimable job and its guild. One with a cap has to be locked to start any."""

    guild_id: GuildId
    job_id: JobId
    is_capped: bool


def pin_plans() -> None:
    """Keep the transaction's statements on the indexes that were made for a claim."""
    execute("pin_plans", {})


def be_patient(limit_s: int) -> None:
    """Let the transaction wait no longer than that for any lock."""
    rows("be_patient", {"limit_s": limit_s})


def settle_marks() -> None:
    """Let a claim find what its own transaction made claimable before."""
    execute("settle_marks", {})
    execute("defer_marks", {})


def lock_request(taker: Taker) -> None:
    """Waits until no other claim of the principal is under the same request."""
    rows("lock_request", taker._asdict())


def read_request(taker: Taker) -> list[Lease]:
    """The leases that the request was given and that still hold, in claim order."""
    return _in_order(rows("read_request", taker._asdict(), format=Format.BINARY))


def find_first(scope: ClaimScope, *, passed: Collection[GuildId]) -> Head | None:
    """The first claimable job outside the guilds ``passed``, locked by others or not."""
    return _head(row("find_first", {**scope._asdict(), "passed": list(passed)}))


def _head(found: Any | None) -> Head | None:
    if found is None:
        return None
    return Head(GuildId(found.guild_id), JobId(found.job_id), found.is_capped)


def has_caps(scope: ClaimScope) -> bool:
    """Whether any guild has a cap."""
    return scope.default_cap is not None or bool(sole("has_caps", {}).has_caps)


def lock_slots(guild_id: GuildId) -> bool:
    """True if the guild's running jobs can be counted now; false where another claim does."""
    return bool(rows("lock_slots", {"guild_id": guild_id}))


def await_head(scope: ClaimScope, head: Head) -> None:
    """Waits until nobody claims from its guild under a cap, and nobody has its job locked."""
    rows("await_slots", {"guild_id": head.guild_id, "default_cap": scope.default_cap})
    rows("await_job", {"job_id": head.job_id})


def claim_jobs(
    scope: ClaimScope, taker: Taker, *, locked: Collection[GuildId], count: int
) -> list[Lease]:
    """Up to ``count`` claimable jobs in the deployment's order, now running and leased.

    Those that others have locked are passed over. A guild with a cap has to be among the
    ``locked``.
    """
    params = {**scope._asdict(), **taker._asdict(), "locked": list(locked), "count": count}
    return _in_order(rows("claim_jobs", params, format=Format.BINARY))


def claim_in_turns(scope: ClaimScope, taker: Taker, *, filter_hash: str, count: int) -> list[Lease]:
    """Up to ``count`` claimable jobs, now running and leased, in the order of their taking.

    The lane first, then guilds in turn. What others hold locked is passed over; the cursor of the
    principal and ``filter_hash`` moves with the last turn taken.
    """
    params = {**scope._asdict(), **taker._asdict(), "filter_hash": filter_hash, "count": count}
    found = rows("claim_in_turns", params, format=Format.BINARY)
    return [lease_from_row(taken) for taken in found]


def _in_order(found: Iterable[Any]) -> list[Lease]:
    return sorted(map(lease_from_row, found), key=_claim_key)


def _claim_key(lease: Lease) -> ClaimKey:
    return claim_key(lease.job.bump_seq, lease.job.priority, lease.job.id)
