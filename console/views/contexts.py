"""What the live pages are rendered from, whether a request asks or a stream sends."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from console.lane import Board
from console.told import tell
from console.views.meeting import meeting
from console.views.queue_rows import may_run_next, queue_page, quick_actions
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.services.browse import EVENTS_A_PAGE


def queue_context(board: Board[QueueSnapshot], *, after: SessionId | None = None) -> dict[str, Any]:
    """The inside of ``#queue``."""
    snapshot = board.shown
    return {
        "snapshot": snapshot,
        "guild_id": snapshot.guild_id,
        "page": queue_page(snapshot, after=after, lane_open=board.lane_open),
        "rules": quick_actions(snapshot),
        "events": tell(snapshot.events),
        "after": after,
    }


def session_context(board: Board[SessionDetail]) -> dict[str, Any]:
    """The inside of ``#session``."""
    detail = board.shown
    return {
        "detail": detail,
        "entry": detail.entry,
        "meeting": meeting(detail),
        "may_bump": board.lane_open and may_run_next(detail.entry),
        "may_unbump": board.lane_open and detail.entry.named,
        "at": timezone.now(),
        "back": "session",
    }


def history_context(
    guild_id: GuildId, records: Sequence[LedgerRecord], *, is_first: bool = True
) -> dict[str, Any]:
    """The inside of ``#history``: a page of the ledger, the newest one where ``is_first``."""
    is_full = len(records) == EVENTS_A_PAGE
    return {
        "guild_id": guild_id,
        "events": tell(records),
        "is_first": is_first,
        "older": records[-1].event_id if is_full else None,
        "at": timezone.now(),
    }
