"""Whether anybody has put anything in yet: the demo fills only a database that is empty."""

from guildqueue.store import past


def is_empty() -> bool:
    """True if there is neither a user nor a guild nor a ledger record."""
    return past.is_empty()


def lock_if_empty() -> bool:
    """As ``is_empty``; the next who asks waits until the caller's transaction ends."""
    past.lock_emptiness()
    return past.is_empty()
