"""Drop turns that no claim reads any more, so that finding the newest stays cheap."""

from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import cursors


@decided_in_transaction
def prune_cursors() -> int:
    """How many were dropped: those behind a newer one, and what 30 days did not use."""
    return cursors.prune_cursors()
