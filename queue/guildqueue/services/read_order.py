"""Read the order that moves rewrite, for an answer that has to say what holds now."""

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import numbered
from guildqueue.store import orders


def current_order(guild_id: GuildId) -> tuple[tuple[SessionId, int], ...]:
    """``(session, priority)`` of every session outside the lane, in claim order."""
    return numbered(orders.read_order(guild_id).queue, {})


def waiting_line(guild_id: GuildId) -> tuple[SessionId, ...]:
    """Every session of which something waits, the lane first: the one at index 0 is number 1."""
    order = orders.read_order(guild_id)
    line = (*order.lane, *(session.session_id for session in order.queue))
    return tuple(session_id for session_id in line if session_id in order.waiting)
