"""Claim work: the next claimable jobs, each with a lease and a fencing token."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter, checked_text
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Lease
from guildqueue.services.overdue import settle_overdue, settle_overdue_now_and_then
from guildqueue.services.transaction import decided_in_transaction, is_nested
from guildqueue.store import claims, locks
from guildqueue.store.claims import Head, Taker
from guildqueue.store.scopes import ClaimScope, claim_scope

EVERYTHING = JobFilter()
COUNT_MOST = 10_000
TTL_MOST_S = 86_400.0
# A process that froze in a transaction must not freeze all that wait for what it has locked.
PATIENCE_S = 5
# Once for who has it, once more as time may have made it claimable meanwhile.
WAITS_MOST = 2


class Claim(NamedTuple):
    """One request for work. ``filter_hash`` tells its rotation from others of the principal."""

    scope: ClaimScope
    taker: Taker
    filter_hash: str
    n_jobs: int


def claim_jobs(
    principal: str,
    *,
    filter: JobFilter = EVERYTHING,  # noqa: A002  the word of every front end
    count: int = 1,
    ttl_s: float,
    request_id: str | None = None,
    waits: bool = True,
) -> list[Lease]:
    """Up to ``count`` jobs, now running; empty where none is claimable.

    The lane comes first and uses up no turn. Then guilds with claimable work take turns, by
    ascending id, remembered for the principal and its filter; within a guild its own order
    decides. With QUEUE_CLAIM_ORDER "global" one order holds for all guilds. A guild at its cap
    is passed over but for its lost leases, which keep their slots.

    A lost lease is found within QUEUE_OVERDUE_SECONDS, and before the answer is that there is
    nothing; lost at a job's last attempt it ends the job, with the reason. Jobs and guilds that a
    change or another claim holds locked are passed over, and waited for only where there are no
    others; who ``waits`` not is then given none, which does not say that there are none.
    ``request_id`` is the principal's own: while leases that it was given hold, it is given those
    and no others. Raises InvalidInput, or QueueBusy if a lock was waited for too long.
    """
    _check(count, ttl_s, request_id)
    claim = claim_of(principal, filter, count=count, ttl_s=ttl_s, request_id=request_id)
    settle_overdue_now_and_then()
    if claims_in_turns() and request_id is None and (claimed := _take_in_turns(claim)):
        return claimed  # as nearly every claim does that finds work, in one statement
    return _take_or_wait(claim, waits=waits)


def claim_of(
    principal: str,
    filter: JobFilter,  # noqa: A002  the word of every front end
    *,
    count: int,
    ttl_s: float,
    request_id: str | None = None,
) -> Claim:
    """The request as the statements of a claim name it."""
    scope, filter_hash = _named(filter, settings.QUEUE_RUNNING_CAP)
    return Claim(scope, Taker(principal, ttl_s, request_id), filter_hash, n_jobs=count)


@lru_cache(maxsize=16)
def _named(filter: JobFilter, default_cap: int | None) -> tuple[ClaimScope, str]:  # noqa: A002
    """The same for all claims by one filter. Few are kept, as a filter may be large."""
    return claim_scope(filter.for_claim(), default_cap=default_cap), filter.scope_hash()


def see_own_changes() -> None:
    """Let a claim inside a caller's transaction find what that made claimable so far."""
    if is_nested():
        claims.settle_marks()


def claims_in_turns() -> bool:
    """Whether guilds take turns, and not one order holds for all of them."""
    return bool(settings.QUEUE_CLAIM_ORDER == "turns")


def _take_or_wait(claim: Claim, *, waits: bool) -> list[Lease]:
    """A transaction each time, so that nothing is locked while a job is waited for."""
    n_waits: Counter[JobId] = Counter()
    passed: list[GuildId] = []
    head = None
    while True:
        settle_overdue()
        claimed, head = _try(claim, head, passed)
        if head is None or not waits:
            return claimed
        n_waits[head.job_id] += 1
        if n_waits[head.job_id] > WAITS_MOST:
            passed.append(head.guild_id)


def _check(count: int, ttl_s: float, request_id: str | None) -> None:
    if not 1 <= count <= COUNT_MOST:
        raise InvalidInput("count", count, f"a number from 1 to {COUNT_MOST}")
    if not 0 < ttl_s <= TTL_MOST_S:
        raise InvalidInput("ttl", ttl_s, f"a number of seconds up to {TTL_MOST_S:g}")
    if request_id is not None:
        checked_text("request_id", request_id)


@decided_in_transaction
def _try(
    claim: Claim, head: Head | None, passed: Sequence[GuildId]
) -> tuple[list[Lease], Head | None]:
    """What could be claimed, or the first claimable job, which others hold locked.

    Waits first until nobody changes the guild of ``head``, the one that was found locked last.
    """
    claims.be_patient(PATIENCE_S)
    if claim.taker.request_id is not None:
        claims.lock_request(claim.taker)
        if known := claims.read_request(claim.taker):
            return known, None
    if head is not None:
        locks.share_order(head.guild_id)
        claims.await_head(claim.scope, head)
    claims.pin_plans()
    claimed = _take_in_turns(claim) if claims_in_turns() else _Attempt(claim).take()
    if claimed:
        return claimed, None
    return [], claims.find_first(claim.scope, passed=passed)


def _take_in_turns(claim: Claim) -> list[Lease]:
    see_own_changes()
    return claims.claim_in_turns(
        claim.scope, claim.taker, filter_hash=claim.filter_hash, count=claim.n_jobs
    )


@dataclass(slots=True)
class _Attempt:
    """One transaction's taking in the deployment's order. It may count the slots of ``locked``."""

    claim: Claim
    locked: set[GuildId] = field(default_factory=set)

    def take(self) -> list[Lease]:
        claim = self.claim
        if not claims.has_caps(claim.scope):
            return claims.claim_jobs(claim.scope, claim.taker, locked=(), count=claim.n_jobs)
        return list(self._one_by_one())

    def _one_by_one(self) -> Iterator[Lease]:
        """As many leases as ``n_jobs`` single claims would give, one after the other."""
        for _ in range(self.claim.n_jobs):
            taken = self._take_first()
            if not taken:
                return
            yield from taken

    def _take_first(self) -> list[Lease]:
        """What the first guild gives that neither others hold locked nor a cap keeps closed."""
        scope, taker, _, _ = self.claim
        passed: list[GuildId] = []
        while head := claims.find_first(scope, passed=passed):
            if self._is_open(head) and (
                taken := claims.claim_jobs(scope, taker, locked=self.locked, count=1)
            ):
                return taken
            passed.append(head.guild_id)
        return []

    def _is_open(self, head: Head) -> bool:
        """Whether the guild's slots can be counted, or need not be."""
        if not head.is_capped or head.guild_id in self.locked:
            return True
        if not claims.lock_slots(head.guild_id):
            return False
        self.locked.add(head.guild_id)
        return True
