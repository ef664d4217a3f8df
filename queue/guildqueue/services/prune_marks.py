"""Keep the rows few that say where lines begin and how many jobs run."""

from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import marks

STEPS_WORTH_A_MARK = 200


@decided_in_transaction
def prune_marks() -> int:
    """How many rows were dropped that no claim reads any more."""
    for guild_id in marks.read_unraised(STEPS_WORTH_A_MARK):
        marks.raise_mark(guild_id)
    return marks.prune_marks()
