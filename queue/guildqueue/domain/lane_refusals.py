"""Why a bump or un-bump is not admitted; every request is recorded all the same."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import ClassVar

from guildqueue.domain.errors import (
    JobNotFound,
    QueueBusy,
    QueueError,
    SessionNotFound,
    shortened,
)
from guildqueue.domain.principal import Principal


class LaneRefusal(StrEnum):
    """The words in which a refused bump or un-bump says why."""

    NOT_GRANTED = "not-granted"
    NO_SUCH_JOB = "no-such-job"
    NO_SUCH_SESSION = "no-such-session"
    FINISHED = "finished"
    DEPENDENCY_FAILED = "dependency-failed"
    DEPENDENCY_RING = "dependency-ring"
    NEWER_RELEASE = "newer-release"
    STILL_NEEDED = "still-needed"
    OTHER_NEEDS = "other-needs"
    QUEUE_UNREADABLE = "queue-unreadable"
    BUSY = "busy"


class LaneRefused(QueueError):
    """A request that the lane does not admit; nothing changes but its record."""

    refusal: ClassVar[LaneRefusal]


class NotGranted(LaneRefused):
    """Neither the operator nor a declared source; ``principal`` is whom the record names."""

    refusal = LaneRefusal.NOT_GRANTED

    def __init__(self, principal: Principal, fact: str) -> None:
        self.principal = principal
        self.fact = fact
        super().__init__(f"{principal} may not change what runs next: {fact}")


class JobFinished(LaneRefused):
    """What has ended is out of the lane, and cannot end again."""

    refusal = LaneRefusal.FINISHED

    def __init__(self, job_id: object, standing: str) -> None:
        self.job_id = job_id
        self.standing = standing
        super().__init__(f"job {shown(job_id)} has ended already: it is {standing}")


class SessionFinished(LaneRefused):
    """An un-bump of a meeting of which nothing is outstanding."""

    refusal = LaneRefusal.FINISHED

    def __init__(self, session_id: object) -> None:
        self.session_id = session_id
        super().__init__(f"session {shown(session_id)} has nothing outstanding")


class DependencyFailed(LaneRefused):
    """A bump of what could never run; ``failed`` has each such dependency and why."""

    refusal = LaneRefusal.DEPENDENCY_FAILED

    def __init__(self, job_id: object, failed: Sequence[tuple[object, str]]) -> None:
        self.job_id = job_id
        self.failed = tuple(failed)
        named = ", ".join(f"{shown(dependency)} ({why})" for dependency, why in failed)
        super().__init__(f"job {shown(job_id)} needs what can never finish: {named}")


class DependencyRing(LaneRefused):
    """Jobs that wait for each other; ``ring`` has them, each needing the next."""

    refusal = LaneRefusal.DEPENDENCY_RING

    def __init__(self, job_id: object, ring: Sequence[object]) -> None:
        self.job_id = job_id
        self.ring = tuple(ring)
        super().__init__(f"job {shown(job_id)} can never run: {spelled_ring(ring)}")


class WrittenByNewer(LaneRefused):
    """A job whose kind or state this release does not know, and so must not write."""

    refusal = LaneRefusal.NEWER_RELEASE

    def __init__(self, job_id: object, met: Iterable[object]) -> None:
        self.job_id = job_id
        self.met = tuple(met)
        super().__init__(
            f"job {shown(job_id)}: a newer release wrote {listed(self.met)}, "
            "which this one cannot move"
        )


class StillNeeded(LaneRefused):
    """An un-bump of what other jobs in the lane need; ``dependents`` has those."""

    refusal = LaneRefusal.STILL_NEEDED

    def __init__(self, job_id: object, dependents: Iterable[object]) -> None:
        self.job_id = job_id
        self.dependents = tuple(dependents)
        super().__init__(
            f"job {shown(job_id)} is needed by what runs next: {listed(self.dependents)}"
        )


class OtherNeeds(LaneRefused):
    """The job is there already, and needs something else than the request says."""

    refusal = LaneRefusal.OTHER_NEEDS

    def __init__(self, job_id: object, needs: Iterable[object]) -> None:
        self.job_id = job_id
        self.needs = tuple(needs)
        needed = listed(self.needs) or "nothing"
        super().__init__(f"job {shown(job_id)} is there already and needs {needed}")


def refusal_word(error: QueueError) -> LaneRefusal:
    """The word for whatever a lane request may raise."""
    match error:
        case LaneRefused():
            return error.refusal
        case JobNotFound():
            return LaneRefusal.NO_SUCH_JOB
        case SessionNotFound():
            return LaneRefusal.NO_SUCH_SESSION
        case QueueBusy():
            return LaneRefusal.BUSY
        case _:
            raise error


def spelled_ring(ring: Sequence[object]) -> str:
    """A ring in words, closed: ``a needs b needs a``."""
    return " needs ".join(shown(job_id) for job_id in (*ring, *ring[:1]))


def listed(job_ids: Iterable[object], limit: int = 20) -> str:
    """The ids with commas between, at most ``limit`` of them and how many more."""
    words = [shown(job_id) for job_id in job_ids]
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(words[:limit]) + more


def shown(job_id: object) -> str:
    """An id as a message may show it: a plain one as it is, anything else quoted."""
    text = str(job_id)
    is_plain = len(text) <= 80 and text.isascii() and text.replace("-", "").isalnum()
    return text if is_plain else shortened(text)
