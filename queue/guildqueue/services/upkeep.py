"""How long vacuum has been held back, and by whom."""

from guildqueue.domain.open_snapshot import OpenSnapshot
from guildqueue.store import upkeep


def oldest_snapshot() -> OpenSnapshot | None:
    """The transaction that has held back vacuum for longest; None where there is none.

    What it holds back are the dead versions of rows, which every claim then reads past.
    """
    return upkeep.read_oldest_snapshot()
