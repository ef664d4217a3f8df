"""A guild's queue as one moment shows it: what pages, streams and the JSON API render."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.ledger import LedgerRecord


class SessionState(StrEnum):
    """A session's state in one word; the first that fits wins, in this order."""

    RECORDING = "recording"
    RUNNING = "running"
    HELD = "held"
    QUEUED = "queued"
    DEAD = "dead"
    CANCELLED = "cancelled"
    DONE = "done"


class WaitsFor(StrEnum):
    """Why the first pending job of a session may not run."""

    HOLD = "hold"
    DEPENDENCY = "dependency"
    DEPENDENCY_FAILED = "dependency-failed"
    NOT_BEFORE = "not-before"
    CAP = "cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Jobs by state; ``other`` is of states that this release does not know."""

    pending: int = 0
    running: int = 0
    done: int = 0
    dead: int = 0
    cancelled: int = 0
    other: int = 0

    @property
    def outstanding(self) -> int:
        return self.pending + self.running

    @property
    def total(self) -> int:
        return self.outstanding + self.done + self.dead + self.cancelled + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackBar:
    """One job as a bar: its colour is the state, its fill the progress (0.0 to 1.0)."""

    job_id: JobId
    name: str
    kind: str
    state: str
    progress: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LastMove:
    """Who moved a session last, where to and when; ``by`` as the ledger spells it."""

    at: datetime
    by: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BumpNote:
    """Who let something of a session run next, since when and why; ``by`` as the ledger has it."""

    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldNote:
    """Who holds a session or guild, since when and why."""

    at: datetime
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """One session in the queue.

    ``priority`` is None with nothing outstanding, ``position`` (1 is next in line) None
    where nothing waits. ``progress`` runs from 0.0 to 1.0 over the jobs that count
    (cancelled ones do not). ``ended_at`` is set with nothing outstanding.
    """

    session_id: SessionId
    title: str
    state: SessionState
    started_at: datetime | None
    created_at: datetime
    participants: int
    jobs: JobCounts
    priority: int | None
    position: int | None
    lane_jobs: int
    named: bool
    hold: HoldNote | None
    waits_for: WaitsFor | None
    not_before: datetime | None
    audio_seconds: float | None
    progress: float
    running_since: datetime | None
    ended_at: datetime | None
    last_move: LastMove | None
    tracks: tuple[TrackBar, ...]
    has_document: bool
    bump: BumpNote | None = None

    @property
    def held(self) -> bool:
        return self.hold is not None

    @property
    def is_outstanding(self) -> bool:
        return self.jobs.outstanding > 0

    @property
    def in_lane(self) -> bool:
        """Every outstanding job runs next."""
        return self.is_outstanding and self.lane_jobs == self.jobs.outstanding

    @property
    def is_movable(self) -> bool:
        """A session that a page gives a handle: it waits, outside the lane."""
        return self.position is not None and not self.in_lane


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildCounts:
    """Jobs of a guild by state; ``held`` are pending jobs under a hold."""

    pending: int = 0
    running: int = 0
    done: int = 0
    dead: int = 0
    cancelled: int = 0
    held: int = 0
    other: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSnapshot:
    """The first page of a guild's queue at one moment, in claim order.

    ``sessions`` are at most 200 with something outstanding, ``more`` says how many follow
    them; ``finished`` are at most 50 with nothing outstanding, newest first.
    ``waiting_tracks`` counts pending tracks, ``waiting_audio_seconds`` their measured audio and
    ``unmeasured_tracks`` those that nobody measured. ``events`` are the ledger's newest few,
    newest first; ``guild_root`` is as GuildRecord's. ``version`` is ``<number>.<digest>``;
    numbers of one database can be compared.
    """

    guild_id: GuildId
    guild_name: str
    version: str
    at: datetime
    hold: HoldNote | None
    running_cap: int | None
    counts: GuildCounts
    more: int
    sessions: tuple[SessionEntry, ...]
    finished: tuple[SessionEntry, ...]
    waiting_tracks: int
    waiting_audio_seconds: float
    unmeasured_tracks: int
    n_waiting_sessions: int
    guild_root: str | None = None
    events: tuple[LedgerRecord, ...] = ()

    @property
    def held(self) -> bool:
        return self.hold is not None

    @property
    def running(self) -> tuple[SessionEntry, ...]:
        """Sessions of which something runs."""
        return tuple(s for s in self.sessions if s.state is SessionState.RUNNING)
