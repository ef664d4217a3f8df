"""What a record of a bump or un-bump says it changed, and the lane that all of them give."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from guildqueue.domain.lane import LanePlan
from guildqueue.domain.ledger import EventType

Id = TypeVar("Id", bound=Hashable)

EFFECTS = ("moved", "named", "already", "removed", "skipped")


def plan_effects(plan: LanePlan[Id]) -> dict[str, Any]:
    """The plan as a record has it, ids as text."""
    lists = (plan.moved, plan.naming, plan.already, plan.removed, plan.skipped)
    effects: dict[str, Any] = {
        name: [str(job_id) for job_id in ids] for name, ids in zip(EFFECTS, lists, strict=True)
    }
    return effects | {"note": plan.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRecord:
    """One request and what became of it, named as the ledger names it; ``at`` is the store's."""

    type: EventType
    by: str
    on_behalf_of: str | None = None
    reason: str = ""
    changed: Mapping[str, Any]
    correlation_id: str = ""
    untrusted: bool = False


@dataclass(slots=True)
class LaneReplay:
    """The lane that the records so far give, but for what has ended meanwhile.

    ``members`` are in the order of entering; the value tells whether the job is named.
    """

    members: dict[str, bool] = field(default_factory=dict)

    def apply(self, changed: Mapping[str, Any]) -> None:
        """Take one record's effects; whatever is not spelled as they are is let be."""
        for job_id in _ids(changed.get("removed")):
            self.members.pop(job_id, None)
        for job_id in _ids(changed.get("moved")):
            self.members.setdefault(job_id, False)
        for job_id in _ids(changed.get("named")):
            self.members[job_id] = True


def _ids(value: object) -> Iterable[str]:
    if not isinstance(value, list):
        return ()
    return [job_id for job_id in value if isinstance(job_id, str)]
