"""The lane of a folder without a database: a text, a declaration and two logs."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guildqueue.domain.grant import Declaration
from guildqueue.domain.lane import ENDED, LaneJob, Standing
from guildqueue.domain.lane_log import EFFECTS, LaneRecord, LaneReplay
from guildqueue.domain.lane_text import Item, QueueUnreadable, parse_queue, spell_item
from guildqueue.domain.order import SortKey
from guildqueue.domain.redaction import redact_value
from guildqueue.store import append_only, grant_files
from guildqueue.store.plain_files import opened, read_all, told

LOCK_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class LaneFolder:
    """Where a queue is kept; ``path`` is the folder."""

    path: Path

    @property
    def queue(self) -> Path:
        return self.path / "queue.txt"

    @property
    def log(self) -> Path:
        return self.path / "priority.jsonl"

    @property
    def settled(self) -> Path:
        return self.path / "settled.jsonl"

    @property
    def lock(self) -> Path:
        return self.path / "lane.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneState:
    """A folder's queue at one moment.

    ``gone`` are in the lane by the log, and no item any more. ``complaints`` are about lines of
    the logs that were passed over, one a file.
    """

    items: Mapping[str, Item]
    jobs: Mapping[str, LaneJob[str]]
    gone: tuple[str, ...]
    complaints: tuple[str, ...]


def read_declaration(folder: LaneFolder) -> Declaration:
    """Whose queue it is and which sources it declares. Raises OSError without a queue.txt."""
    return grant_files.read_lane_declaration(folder.path, anchor=folder.queue)


@contextmanager
def alone(folder: LaneFolder) -> Iterator[None]:
    """Under the folder's lock. Raises QueueBusy."""
    with append_only.locked(folder.lock, like=folder.queue, patience_s=LOCK_PATIENCE_S):
        yield


def read_state(folder: LaneFolder) -> LaneState:
    """The queue as its files have it now; take the lock to decide anything from it.

    Raises QueueUnreadable for a fault in queue.txt, OSError for a log that cannot be read.
    """
    # In this order, a reader without the lock may miss the newest request, never half of one.
    lane, log_complaint = _read_lane(folder)
    outcomes, settled_complaint = _read_outcomes(folder)
    items = _read_items(folder)
    jobs = _jobs(items, outcomes, lane)
    return LaneState(
        items=items,
        jobs=jobs,
        gone=tuple(slug for slug in lane if slug not in items and slug not in outcomes),
        complaints=tuple(filter(None, (log_complaint, settled_complaint))),
    )


def append_record(folder: LaneFolder, record: LaneRecord) -> None:
    """Add a request to the log, secrets taken out, with the time; under the folder's lock."""
    # Not for whoever may write queue.txt: whoever writes the log has a say in what runs next.
    append_only.append_line(folder.log, _record_line(record), like=folder.queue, writers=False)


def append_record_from_outside(folder: LaneFolder, record: LaneRecord) -> None:
    """Add a request for one who may not take the lock. Raises OSError if he may not add either."""
    append_only.append_line_from_outside(folder.log, _record_line(record))


def append_outcome(folder: LaneFolder, slug: str, outcome: Standing, *, by: str) -> None:
    """Say how an item ended; under the folder's lock."""
    line = _line({"by": by, "job_id": slug, "state": outcome.value})
    append_only.append_line(folder.settled, line, like=folder.queue, writers=True)


def append_item(folder: LaneFolder, slug: str, needs: tuple[str, ...]) -> None:
    """Put an item at the end of the queue; under the folder's lock."""
    append_only.append_text_line(folder.queue, spell_item(slug, needs))


def new_job(state: LaneState, slug: str, needs: tuple[str, ...]) -> LaneJob[str]:
    """The item as it would stand at the end of the queue."""
    line = max((item.line for item in state.items.values()), default=0) + 1
    return LaneJob(id=slug, standing=Standing.PENDING, sort_key=SortKey(0, line), needs=needs)


def _record_line(record: LaneRecord) -> str:
    told = redact_value(asdict(record))
    # The effects are what is replayed: an item's own name stays as it is, whatever it looks like.
    told["changed"] |= {name: record.changed[name] for name in EFFECTS if name in record.changed}
    return _line(told)


def _line(content: Mapping[str, Any]) -> str:
    moment = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return json.dumps({"at": moment, **content}, ensure_ascii=False)


def _read_items(folder: LaneFolder) -> dict[str, Item]:
    try:
        with opened(folder.queue, os.O_RDONLY) as descriptor:
            content = read_all(descriptor)
    except OSError as error:
        raise QueueUnreadable(None, told(error)) from error
    return parse_queue(content)


def _jobs(
    items: Mapping[str, Item], outcomes: Mapping[str, str], lane: Mapping[str, bool]
) -> dict[str, LaneJob[str]]:
    places = {slug: number for number, slug in enumerate(lane, start=1)}
    jobs = {}
    for slug, item in items.items():
        standing = _standing(outcomes.get(slug))
        # As in a table, what ends leaves the lane at once.
        in_lane = standing not in ENDED and slug in lane
        jobs[slug] = LaneJob(
            id=slug,
            standing=standing,
            sort_key=SortKey(0, item.line),
            needs=item.needs,
            bump_seq=places[slug] if in_lane else None,
            named=in_lane and lane[slug],
        )
    return jobs


def _standing(outcome: str | None) -> Standing:
    if outcome is None:
        return Standing.PENDING
    return Standing(outcome) if outcome in ENDED else Standing.NEWER


def _read_lane(folder: LaneFolder) -> tuple[dict[str, bool], str]:
    """The lane that the log gives, and what there is to complain of."""
    _refuse_strange_log(folder)
    records = append_only.JsonLines(folder.log)
    replay = LaneReplay()
    for record in records:
        changed = record.get("changed")
        # What a refused caller sent is data, and never an effect.
        if isinstance(changed, dict) and record.get("untrusted") is not True:
            replay.apply(changed)
    return replay.members, records.complaint


def _refuse_strange_log(folder: LaneFolder) -> None:
    """Raise PermissionError for a log that is another's, who could write into it what he likes."""
    try:
        owner = folder.log.lstat().st_uid
    except FileNotFoundError:
        return
    operator = folder.queue.stat().st_uid
    if owner not in {operator, 0}:
        raise PermissionError(
            f"{folder.log} belongs to {grant_files.account_name(owner) or owner} and not to "
            f"{grant_files.account_name(operator) or operator}, whose queue it is"
        )


def _read_outcomes(folder: LaneFolder) -> tuple[dict[str, str], str]:
    records = append_only.JsonLines(folder.settled)
    outcomes = {}
    for record in records:
        slug, state = record.get("job_id"), record.get("state")
        if isinstance(slug, str) and isinstance(state, str):
            outcomes[slug] = state
    return outcomes, records.complaint
