"""A guild's queue laid out for the page: which section a session stands in, and next to whom."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from console.words import rule_words
from guildqueue.domain.ids import SessionId
from guildqueue.domain.rules import KNOWN_RULES
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry, SessionState


@dataclass(frozen=True, slots=True)
class Row:
    """A session with its id and address as markup, and the moves that its Move menu offers.

    Markup, as numbers would be formatted for the reader's language, and as both stand 20 times
    in a row: escaping them again took a third of the page's time. ``up`` and ``down`` are the
    ``to`` of a move past the neighbour, "" at an end of the list, None where the neighbour
    stands on a page that is not here. ``lane_open`` where the console may say what runs next.
    """

    entry: SessionEntry
    id: SafeString
    url: SafeString
    up: str | None = None
    down: str | None = None
    lane_open: bool = False

    @property
    def may_bump(self) -> bool:
        """It does not run next by name already, so somebody may say that it does."""
        return self.lane_open and may_run_next(self.entry)

    @property
    def may_unbump(self) -> bool:
        return self.lane_open and self.entry.named

    @property
    def state_template(self) -> str:
        return f"sessions/state/_{self.entry.state}.html"


@dataclass(frozen=True, slots=True)
class QueuePage:
    """The sections of the page, top to bottom in the order in which things will happen."""

    running: tuple[Row, ...]
    lane: tuple[Row, ...]
    waiting: tuple[Row, ...]
    recording: tuple[Row, ...]
    finished: tuple[Row, ...]
    last_id: SessionId | None

    @property
    def is_empty(self) -> bool:
        return not (self.running or self.lane or self.waiting or self.recording or self.finished)

    @property
    def placed_by(self) -> tuple[str, ...]:
        """Who let the sessions of the lane run next, as their jobs spell it."""
        return tuple(row.entry.bump.by for row in self.lane if row.entry.bump is not None)


def may_run_next(entry: SessionEntry) -> bool:
    """Whether a bump of the session would find something to do."""
    return entry.is_outstanding and not (entry.in_lane and entry.named)


def queue_page(
    snapshot: QueueSnapshot, *, after: SessionId | None = None, lane_open: bool = False
) -> QueuePage:
    """The rows of ``snapshot``, whose first session follows session ``after`` in line."""
    rows = tuple(replace(row, lane_open=lane_open) for row in _rows(snapshot, after))
    running = tuple(r for r in rows if r.entry.jobs.running)
    lane = tuple(r for r in rows if r.entry.in_lane and not r.entry.jobs.running)
    shown = {id(row) for row in (*running, *lane)}
    ended = [_row(entry) for entry in snapshot.finished]
    return QueuePage(
        running=running,
        lane=lane,
        waiting=tuple(r for r in rows if id(r) not in shown),
        recording=tuple(r for r in ended if r.entry.state is SessionState.RECORDING),
        finished=tuple(r for r in ended if r.entry.state is not SessionState.RECORDING),
        last_id=snapshot.sessions[-1].session_id if snapshot.sessions else None,
    )


@dataclass(frozen=True, slots=True)
class QuickAction:
    """A rule as the side column offers it."""

    name: str
    title: str
    note: str


def quick_actions(snapshot: QueueSnapshot) -> tuple[QuickAction, ...]:
    """The known rules; one that ranks by length says how many have none."""
    n_unmeasured = sum(e.is_movable and e.audio_seconds is None for e in snapshot.sessions)
    behind = ngettext(
        "%(n)s not measured stays behind · preview",
        "%(n)s not measured stay behind · preview",
        n_unmeasured,
    ) % {"n": n_unmeasured}
    notes = {"short-recordings-first": behind} if n_unmeasured else {}
    plain = gettext("preview")
    return tuple(
        QuickAction(name, rule_words(name), notes.get(name, plain)) for name in KNOWN_RULES
    )


def _rows(snapshot: QueueSnapshot, after: SessionId | None) -> Iterator[Row]:
    """The rows in claim order; Up and Down pass what moves can pass, in whichever section."""
    movable = [entry.session_id for entry in snapshot.sessions if entry.is_movable]
    first_up = "" if after is None else f"before {after}"
    last_down = None if snapshot.more else ""
    ups = dict(zip(movable[1:], (f"before {number}" for number in movable), strict=False))
    downs = dict(zip(movable, (f"after {number}" for number in movable[1:]), strict=False))
    for entry in snapshot.sessions:
        number = entry.session_id
        yield _row(entry, ups.get(number, first_up), downs.get(number, last_down))


def _row(entry: SessionEntry, up: str | None = None, down: str | None = None) -> Row:
    # Reversing each of 200 addresses would cost more than rendering the rows.
    root = reverse("session-show", args=(0,))[:-2]
    number = str(entry.session_id)
    return Row(entry, SafeString(number), SafeString(f"{root}{number}/"), up, down)
