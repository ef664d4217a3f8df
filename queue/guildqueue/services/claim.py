"""Claim work: the next claimable jobs, each with a lease and a fencing token."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.conf import settings

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import KNOWN_KINDS, Lease
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import cursors, leases, locks
from guildqueue.store.leases import Taker, Wanted


class Claim(NamedTuple):
    """One request for work. ``filter_hash`` tells its rotation from others of the principal."""

    wanted: Wanted
    taker: Taker
    filter_hash: str
    n_jobs: int


def claim_jobs(
    principal: str,
    *,
    count: int = 1,
    ttl_s: float,
    kinds: Sequence[str] | None = None,
    guilds: Sequence[GuildId] | None = None,
) -> list[Lease]:
    """Up to ``count`` jobs, now running; empty where none is claimable.

    The lane comes first and uses up no turn. Then guilds with claimable work take turns, by
    ascending id, remembered for the principal and its filter; within a guild its own order
    decides. With QUEUE_CLAIM_ORDER "global" one order holds for all guilds.

    A lease lost at a job's last attempt ends that job here, with the reason. ``kinds`` and
    ``guilds`` restrict; None is every kind that this release knows, every guild. Jobs that a
    change holds locked are passed over, and waited for only where there are no others.
    """
    known = [kind for kind in KNOWN_KINDS if kinds is None or kind in kinds]
    scope = JobFilter(guilds=frozenset(guilds or ()), kinds=frozenset(kinds or ()))
    claim = Claim(
        wanted=Wanted(known, None if guilds is None else list(guilds)),
        taker=Taker(principal, ttl_s),
        filter_hash=scope.scope_hash(),
        n_jobs=count,
    )
    waited: list[GuildId] = []
    while True:
        # A transaction each time, so that nothing is locked while a guild is waited for.
        claimed, busy_guild = _try(claim, waited)
        if busy_guild is None:
            return claimed
        waited.append(busy_guild)


@decided_in_transaction
def _try(claim: Claim, waited: Sequence[GuildId]) -> tuple[list[Lease], GuildId | None]:
    """What could be claimed, or a guild with claimable jobs that others hold locked.

    Waits first until nobody changes the guild that was waited for last.
    """
    if waited:
        locks.share_order(waited[-1])
    leases.pin_plans()
    if not waited:
        leases.bury_lost_jobs()
    if settings.QUEUE_CLAIM_ORDER == "global":
        claimed = leases.claim_jobs(claim.wanted, claim.taker, count=claim.n_jobs)
    else:
        claimed = list(_take_turns(claim))
    if claimed:
        return claimed, None
    return [], leases.find_guild_with_work(claim.wanted, waited=waited)


def _take_turns(claim: Claim) -> Iterator[Lease]:
    """As many leases as ``claim.n_jobs`` single claims would give, one after the other."""
    for _ in range(claim.n_jobs):
        taken = leases.claim_lane(claim.wanted, claim.taker) or _take_turn(claim)
        if not taken:
            return
        yield from taken


def _take_turn(claim: Claim) -> list[Lease]:
    """A job of the guild whose turn it is, or of the next one that has any to give.

    The cursor moves only where a job was taken.
    """
    principal = claim.taker.principal
    last = cursors.read_cursor(principal, claim.filter_hash)
    passed: list[GuildId] = []
    while guild_id := cursors.find_turn(claim.wanted, last=last, passed=passed):
        if taken := leases.claim_turn(claim.wanted, claim.taker, guild_id):
            cursors.append_cursor(principal, claim.filter_hash, guild_id)
            return taken
        passed.append(guild_id)
    return []
