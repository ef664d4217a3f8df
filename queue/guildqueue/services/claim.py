"""Claim work: the next claimable jobs, each with a lease and a fencing token."""

from collections.abc import Sequence

from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import KNOWN_KINDS, Lease
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import leases, locks
from guildqueue.store.leases import Wanted


def claim_jobs(
    principal: str,
    *,
    count: int = 1,
    ttl_s: float,
    kinds: Sequence[str] | None = None,
    guilds: Sequence[GuildId] | None = None,
) -> list[Lease]:
    """Up to ``count`` jobs in claim order, now running; empty where none is claimable.

    A lease lost at a job's last attempt ends that job here, with the reason. ``kinds`` and
    ``guilds`` restrict; None is every kind that this release knows, every guild. Jobs that a
    change holds locked are passed over, and waited for only where there are no others.
    """
    known = [kind for kind in KNOWN_KINDS if kinds is None or kind in kinds]
    wanted = Wanted(known, None if guilds is None else list(guilds))
    waited: list[GuildId] = []
    while True:
        # A transaction each time, so that nothing is locked while a guild is waited for.
        claimed, busy_guild = _try(wanted, waited, principal=principal, count=count, ttl_s=ttl_s)
        if busy_guild is None:
            return claimed
        waited.append(busy_guild)


@decided_in_transaction
def _try(
    wanted: Wanted, waited: Sequence[GuildId], *, principal: str, count: int, ttl_s: float
) -> tuple[list[Lease], GuildId | None]:
    """What could be claimed, or a guild with claimable jobs that others hold locked.

    Waits first until nobody changes the guild that was waited for last.
    """
    if waited:
        locks.share_order(waited[-1])
    leases.pin_plans()
    if not waited:
        leases.bury_lost_jobs()
    claimed = leases.claim_jobs(wanted, principal=principal, count=count, ttl_s=ttl_s)
    if claimed:
        return claimed, None
    return [], leases.find_guild_with_work(wanted, waited=waited)
