"""Read a queue without a database: its order, and what would run."""

from dataclasses import dataclass
from pathlib import Path

from guildqueue.domain.lane_listing import ListedJob, list_jobs, next_job
from guildqueue.domain.lane_text import find_faults, find_rings
from guildqueue.store import lane_file
from guildqueue.store.lane_file import LaneFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """The unfinished items in running order, then the finished; a sentence for each fault."""

    items: tuple[ListedJob[str], ...]
    next: str | None
    faults: tuple[str, ...]


def list_items(folder: Path) -> ItemList:
    """The queue as it is, read without a lock. Raises QueueUnreadable or OSError."""
    state = lane_file.read_state(LaneFolder(folder))
    return ItemList(
        items=tuple(list_jobs(state.jobs, find_rings(state.jobs))),
        next=next_job(state.jobs),
        faults=(*find_faults(state.items, state.jobs), *state.complaints),
    )
