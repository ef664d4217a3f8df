"""Whether a guild's records give the lane that the table has, and what would set them right."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from guildqueue.domain.lane_log import LaneReplay
from guildqueue.domain.ledger import EventType, LedgerRecord

Lane = Sequence[tuple[str, bool]]
"""Jobs in lane order, each with whether it is named."""

CHANGES = frozenset({EventType.PRIORITY_BUMPED, EventType.PRIORITY_UNBUMPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where record and table disagree; ``correction`` is what a record that mends it changes."""

    fact: str
    correction: Mapping[str, Any]


@dataclass(slots=True)
class LedgerReplay:
    """The lane that a guild's records give, oldest first.

    A job that ended left the lane without a record, and may be back in line since; so for each
    member the moment of its last record is kept.
    """

    lane: LaneReplay = field(default_factory=LaneReplay)
    since: dict[str, datetime] = field(default_factory=dict)

    def apply(self, record: LedgerRecord) -> None:
        if record.type not in CHANGES:
            return
        entering = record.changed.get("moved")
        for job_id in entering if isinstance(entering, list) else ():
            # It had ended meanwhile, or it could not enter: it enters anew.
            self.lane.members.pop(str(job_id), None)
            self.since[str(job_id)] = record.at
        self.lane.apply(record.changed)

    def without_ended(self, ended_at: Mapping[str, datetime | None]) -> Lane:
        """The lane but for what ended since it entered, and for jobs that are gone."""
        return [
            (job_id, named)
            for job_id, named in self.lane.members.items()
            if job_id in ended_at and not self._ended_since(job_id, ended_at[job_id])
        ]

    def _ended_since(self, job_id: str, ended_at: datetime | None) -> bool:
        entered_at = self.since.get(job_id)
        return ended_at is not None and (entered_at is None or ended_at > entered_at)


def find_differences(recorded: Lane, stored: Lane) -> list[Difference]:
    """How the table's lane differs from the recorded one, a job at a time, then in its order.

    Applying the corrections to the recorded lane, one after the other, gives the stored one.
    """
    corrected = LaneReplay(dict(recorded))
    found: list[Difference] = []
    for difference in _of_members(dict(recorded), dict(stored)):
        corrected.apply(difference.correction)
        found.append(difference)
    given = list(corrected.members.items())
    if given != list(stored):
        start = next(n for n, (a, b) in enumerate(zip(given, stored, strict=True)) if a != b)
        moved = stored[start:]
        fact = f"from place {start + 1} on the lane is in another order than recorded"
        found.append(Difference(fact=fact, correction=_entering(moved, leaving=moved)))
    return found


def _of_members(recorded: Mapping[str, bool], stored: Mapping[str, bool]) -> Iterator[Difference]:
    for job_id in recorded.keys() - stored.keys():
        yield Difference(
            fact=f"job {job_id} runs next by the record, and is not in the lane",
            correction=_entering([], leaving=[(job_id, False)]),
        )
    for job_id, named in stored.items():
        job = [(job_id, named)]
        if job_id not in recorded:
            fact = f"job {job_id} is in the lane, and no record says that it runs next"
            yield Difference(fact=fact, correction=_entering(job))
        elif named != recorded[job_id]:
            word = "named" if named else "pulled in"
            fact = f"job {job_id} is {word} in the lane, and is not by the record"
            # A name is added in its place; it can only be lost by leaving.
            naming = {**_entering([]), "named": [job_id]}
            yield Difference(fact=fact, correction=naming if named else _entering(job, leaving=job))


def _entering(jobs: Lane, *, leaving: Lane = ()) -> dict[str, Any]:
    return {
        "moved": _ids(jobs),
        "named": [job_id for job_id, named in jobs if named],
        "already": [],
        "removed": _ids(leaving),
        "skipped": [],
    }


def _ids(jobs: Iterable[tuple[str, bool]]) -> list[str]:
    return [job_id for job_id, _ in jobs]
