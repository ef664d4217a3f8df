"""Read the order that moves rewrite, for an answer that has to say what holds now."""

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import numbered
from guildqueue.store import orders


def current_order(guild_id: GuildId) -> tuple[tuple[SessionId, int], ...]:
    """``(session, priority)`` of every session outside the lane, in claim order."""
    return numbered(orders.read_order(guild_id).queue, {})
