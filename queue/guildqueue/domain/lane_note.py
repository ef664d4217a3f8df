"""What runs next as it is shown: each job of the lane, and who let it run next."""

from dataclasses import dataclass
from datetime import datetime

from guildqueue.domain.ids import JobId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneNote:
    """A job of the lane.

    ``named`` tells one that somebody bumped from one that was pulled in. ``by`` is who did, as
    the ledger spells it, ``at`` when, None and "" where no request is on record.
    """

    job_id: JobId
    session_id: SessionId
    title: str
    name: str
    kind: str
    state: str
    named: bool
    by: str
    at: datetime | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnplacedJob:
    """A job of a kind that this release does not know: it waits for a newer one."""

    job_id: JobId
    session_id: SessionId
    title: str
    name: str
    kind: str
    state: str
