"""Facts that stop a request; each carries the values its message names."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId, SessionId


class QueueError(Exception):
    """A request that the queue's rules do not allow; nothing was changed."""


class InvalidInput(QueueError):
    """A value that can never be right, whatever the queue holds."""

    def __init__(self, field: str, value: object, allowed: str | Iterable[str]) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed if isinstance(allowed, str) else ", ".join(allowed)
        super().__init__(f"{field}: {shortened(value)} is not allowed; allowed: {self.allowed}")


class GuildNotFound(QueueError):
    """No such guild, or none of the caller's: the two are answered alike."""

    def __init__(self, guild_id: GuildId | int | str) -> None:
        self.guild_id = guild_id
        super().__init__(f"no guild {shortened(guild_id)}")


class SessionNotFound(QueueError):
    """No such session, or none of the caller's: the two are answered alike."""

    def __init__(self, session_id: SessionId | int | str) -> None:
        self.session_id = session_id
        super().__init__(f"no session {shortened(session_id)}")


class JobNotFound(QueueError):
    """No such job, or none of the caller's: the two are answered alike."""

    def __init__(self, job_id: JobId | int | str) -> None:
        self.job_id = job_id
        super().__init__(f"no job {shortened(job_id)}")


class UserNotFound(QueueError):
    """No such user of the console."""

    def __init__(self, username: str) -> None:
        self.username = username
        super().__init__(f"no user {shortened(username)}")


class Refusal(StrEnum):
    """The words in which a 409 says why."""

    SESSION_LEFT_QUEUE = "session-left-queue"
    NEIGHBOUR_LEFT_QUEUE = "neighbour-left-queue"
    IN_LANE = "in-lane"
    NOTHING_OUTSTANDING = "nothing-outstanding"
    NOTHING_TO_REQUEUE = "nothing-to-requeue"
    PRIORITY_EXHAUSTED = "priority-exhausted"
    STALE_LEASE = "stale-lease"
    CANCELLED = "cancelled"
    BUSY = "busy"


class RequestRefused(QueueError):
    """A well-formed request that the queue's present state does not admit."""

    refusal: Refusal


class MoveRefused(RequestRefused):
    """A move against a queue that changed meanwhile.

    ``order`` is the guild's order as it is now, one ``(session, priority)`` a session
    outside the lane, in claim order.
    """

    def __init__(
        self, session_id: SessionId, order: Sequence[tuple[SessionId, int]], fact: str
    ) -> None:
        self.session_id = session_id
        self.order = tuple(order)
        super().__init__(f"session {session_id} {fact}")


class SessionLeftQueue(MoveRefused):
    """The session that should move has nothing outstanding any more."""

    refusal = Refusal.SESSION_LEFT_QUEUE

    def __init__(self, session_id: SessionId, order: Sequence[tuple[SessionId, int]] = ()) -> None:
        super().__init__(session_id, order, "has left the queue")


class NeighbourLeftQueue(MoveRefused):
    """The neighbour is not in this guild's queue: finished, unknown or another guild's."""

    refusal = Refusal.NEIGHBOUR_LEFT_QUEUE

    def __init__(self, session_id: SessionId, order: Sequence[tuple[SessionId, int]] = ()) -> None:
        super().__init__(session_id, order, "is not in the queue to move next to")


class InLane(MoveRefused):
    """A session that runs next is not part of the order that moves rewrite."""

    refusal = Refusal.IN_LANE

    def __init__(self, session_id: SessionId, order: Sequence[tuple[SessionId, int]] = ()) -> None:
        super().__init__(session_id, order, "runs next and cannot be moved")


class PriorityExhausted(RequestRefused):
    """The number that would put a session in its place does not fit a bigint."""

    refusal = Refusal.PRIORITY_EXHAUSTED

    def __init__(self, session_id: SessionId) -> None:
        self.session_id = session_id
        super().__init__(f"session {session_id} would need a priority above {BIGINT_MAX}")


class NothingOutstanding(RequestRefused):
    """The session or job has finished, so there is nothing to hold or cancel."""

    refusal = Refusal.NOTHING_OUTSTANDING

    def __init__(self, subject: str, subject_id: int) -> None:
        self.subject = subject
        self.subject_id = subject_id
        super().__init__(f"{subject} {subject_id} has nothing outstanding")


class NothingToRequeue(RequestRefused):
    """Every job of the session or the job itself still waits or runs."""

    refusal = Refusal.NOTHING_TO_REQUEUE

    def __init__(self, subject: str, subject_id: int) -> None:
        self.subject = subject
        self.subject_id = subject_id
        super().__init__(f"{subject} {subject_id} has nothing finished, dead or cancelled")


class StaleLease(RequestRefused):
    """The fencing token or its principal is no longer the job's; nothing was written."""

    refusal = Refusal.STALE_LEASE

    def __init__(self, job_id: JobId, token: int) -> None:
        self.job_id = job_id
        self.token = token
        super().__init__(f"job {job_id}: token {token} no longer holds the lease")


class LeaseCancelled(RequestRefused):
    """The job was cancelled under its worker; the lease ended at once."""

    refusal = Refusal.CANCELLED

    def __init__(self, job_id: JobId, token: int) -> None:
        self.job_id = job_id
        self.token = token
        super().__init__(f"job {job_id} was cancelled; token {token} holds nothing")


LeaseLost = StaleLease | LeaseCancelled | JobNotFound
LEASE_LOST = (StaleLease, LeaseCancelled, JobNotFound)
"""Why a worker's write changed nothing: the job is not its own any more."""


class QueueBusy(RequestRefused):
    """The database broke a lock cycle or a serialisation twice; a retry is safe."""

    refusal = Refusal.BUSY

    def __init__(self) -> None:
        super().__init__("the queue was changed by others at the same moment; a retry is safe")


def shortened(value: object, limit: int = 80) -> str:
    """``value`` as a message may show it: quoted, escaped, at most ``limit`` characters."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
