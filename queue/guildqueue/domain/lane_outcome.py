"""What became of one bump or un-bump, in the one shape that every front end shows."""

from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, TypeVar

from guildqueue.domain.errors import QueueError
from guildqueue.domain.lane import LanePlan
from guildqueue.domain.lane_refusals import LaneRefusal, refusal_word

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOutcome:
    """An admitted request and all it moved, or a refused one and why; ids as text."""

    accepted: bool
    refusal: LaneRefusal | None = None
    job_id: str | None = None
    session_id: str | None = None
    moved: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of_plan(
        cls, plan: LanePlan[Id], *, job_id: object = None, session_id: object = None
    ) -> Self:
        """The outcome of an admitted request."""
        return cls(
            accepted=True,
            job_id=None if job_id is None else str(job_id),
            session_id=None if session_id is None else str(session_id),
            moved=tuple(map(str, plan.moved)),
            already=tuple(map(str, plan.already)),
            removed=tuple(map(str, plan.removed)),
            skipped=tuple(map(str, plan.skipped)),
            note=plan.note,
        )

    @classmethod
    def of_error(
        cls, error: QueueError, *, job_id: object = None, session_id: object = None
    ) -> Self:
        """The outcome of a refused request; the note is the reason."""
        return cls(
            accepted=False,
            refusal=refusal_word(error),
            job_id=None if job_id is None else str(job_id),
            session_id=None if session_id is None else str(session_id),
            note=str(error),
        )

    def placed(self, place: str) -> Self:
        """The outcome with the path to look at, for a ``place`` that is not ""."""
        return replace(self, note=f"{self.note} ({place})") if place else self

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON objects have them."""
        return asdict(self)
