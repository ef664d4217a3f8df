"""The one place that spells the order: lane first by bump_seq, then priority, then id."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from guildqueue.domain.ids import JobId, SessionId

# ORDER BY these columns, every one ascending: PostgreSQL then puts nulls last, which is
# what keeps the jobs outside the lane (bump_seq null) behind it.
CLAIM_ORDER_COLUMNS = ("bump_seq", "priority", "id")
SORT_KEY_COLUMNS = CLAIM_ORDER_COLUMNS[1:]


class SortKey(NamedTuple):
    """A place outside the lane. A session's ``id`` is that of its first job there."""

    priority: int
    id: int


class ClaimKey(NamedTuple):
    """A job's place among all jobs of its guild; a smaller one is taken earlier.

    ``bump_seq`` is 0 outside the lane, where it decides nothing.
    """

    is_outside_lane: bool
    bump_seq: int
    priority: int
    id: int


def claim_key(bump_seq: int | None, priority: int, job_id: JobId) -> ClaimKey:
    """The key by which jobs are taken; ``bump_seq`` is None outside the lane."""
    if bump_seq is None:
        return ClaimKey(True, 0, priority, job_id)
    return ClaimKey(False, bump_seq, priority, job_id)


def session_key(outstanding: Iterable[ClaimKey]) -> SortKey | None:
    """A session's place, from its outstanding jobs: the smallest sort key outside the lane.

    None if nothing is outstanding or all of it is in the lane: such a session is not part
    of the order that moves rewrite.
    """
    outside = (SortKey(key.priority, key.id) for key in outstanding if key.is_outside_lane)
    return min(outside, default=None)


def place_in_line(
    session_id: SessionId, order: Sequence[SessionId], waiting: Collection[SessionId]
) -> int | None:
    """The session's number in line, from 1; None if nothing of it waits.

    ``order`` has the guild's sessions in claim order, lane first; only those ``waiting``, of
    which something is pending, have a number.
    """
    if session_id not in waiting:
        return None
    return sum(other in waiting for other in order[: order.index(session_id) + 1])
