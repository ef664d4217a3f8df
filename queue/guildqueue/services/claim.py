"""Claim work: the next claimable jobs, each with a lease and a fencing token."""

from collections.abc import Sequence

from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import KNOWN_KINDS, Lease
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import leases


@decided_in_transaction
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
    ``guilds`` restrict; None is every kind that this release knows, every guild.
    """
    leases.pin_plans()
    leases.bury_lost_jobs()
    wanted = KNOWN_KINDS if kinds is None else [kind for kind in kinds if kind in KNOWN_KINDS]
    return leases.claim_jobs(
        principal=principal, count=count, ttl_s=ttl_s, kinds=wanted, guilds=guilds
    )
