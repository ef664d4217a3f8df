"""What a store of the lane must offer so that the contract can be tried on it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from guildqueue.domain.lane import LaneJob

DECLARED = "nightly-import"


class Who(Enum):
    """Who asks: whether as the operator's account, and the source it names."""

    OPERATOR = (True, None)
    SOURCE = (True, DECLARED)
    UNDECLARED = (True, "somebody-else")
    RESERVED = (True, "operator")
    STRANGER = (False, None)
    STRANGER_AS_SOURCE = (False, DECLARED)

    def __init__(self, is_operators_account: bool, source: str | None) -> None:
        self.is_operators_account = is_operators_account
        self.source = source


GRANTED = (Who.OPERATOR, Who.SOURCE)
REFUSED = tuple(who for who in Who if who not in GRANTED)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a caller is told; jobs by their names."""

    accepted: bool
    refusal: str | None = None
    moved: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One record, oldest first in a list of them; ``by`` is a principal's kind."""

    type: str
    by: str
    job: str
    reason: str = ""
    refusal: str | None = None
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    note: str = ""
    untrusted: bool = False


class LaneUnderTest(Protocol):
    """One queue in one store. Jobs have names that the test gives; ``declare`` was called."""

    def push(
        self,
        name: str,
        *,
        needs: Iterable[str] = (),
        bump: bool = False,
        who: Who = Who.OPERATOR,
        reason: str = "",
    ) -> Answer:
        """Put a job at the end; with ``bump`` a request of the lane, without it any answer."""

    def bump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer: ...

    def unbump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer: ...

    def settle(self, name: str, state: str) -> None:
        """The job ends: ``done``, ``dead`` or ``cancelled``."""

    def start(self, name: str) -> None:
        """A worker takes the job."""

    def lease(self, name: str) -> object:
        """Whatever the store knows of the worker that holds the job."""

    def write_as_newer(self, name: str) -> None:
        """A newer release leaves the job in a state that this one does not know."""

    def entangle(self, name: str, needs: Iterable[str]) -> None:
        """Give the job needs that no request could write; skips the test where none can be."""

    def declare(self, content: bytes | None) -> None:
        """Replace the declaration, None to remove it."""

    def jobs(self) -> Mapping[str, LaneJob[str]]:
        """All jobs as they are stored, by name."""

    def order(self) -> list[str]:
        """The unfinished jobs as the store itself shows that they will run."""

    def records(self) -> list[Recorded]: ...


def lane_of(lane: LaneUnderTest) -> list[str]:
    """The names in the lane, in its order."""
    members = [job for job in lane.jobs().values() if job.bump_seq is not None]
    return [job.id for job in sorted(members, key=lambda job: job.key)]


def named_of(lane: LaneUnderTest) -> set[str]:
    return {name for name, job in lane.jobs().items() if job.named}
