"""Fold the counting steps of ended jobs together, so that reading a count stays cheap."""

from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import jobs

STEPS_WORTH_FOLDING = 200


@decided_in_transaction
def fold_counters() -> int:
    """How many guilds had many steps and were folded; what others fold just now is left."""
    guilds = jobs.read_unfolded(STEPS_WORTH_FOLDING)
    for guild_id in guilds:
        jobs.fold_counters(guild_id)
    return len(guilds)
