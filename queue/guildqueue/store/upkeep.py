"""What keeps the database from staying quick."""

from guildqueue.domain.open_snapshot import OpenSnapshot
from guildqueue.store.statements import row


def read_oldest_snapshot() -> OpenSnapshot | None:
    """The transaction that has held back vacuum for longest; None where there is none."""
    found = row("read_oldest_snapshot", {})
    return OpenSnapshot(**found._asdict()) if found else None
