"""The advisory locks that put a guild's writers in line; each until the transaction's end."""

from guildqueue.domain.ids import GuildId
from guildqueue.store.statements import rows


def lock_order(guild_id: GuildId) -> None:
    """Waits until nobody else changes the guild's order."""
    rows("lock_order", {"guild_id": guild_id})


def share_order(guild_id: GuildId) -> None:
    """Waits until nobody changes the guild's order; until the end nobody does."""
    rows("share_order", {"guild_id": guild_id})


def lock_needs(guild_id: GuildId) -> None:
    """Waits until nobody ends a job of the guild; then dependencies may be written."""
    rows("lock_needs", {"guild_id": guild_id})


def share_needs(guild_id: GuildId) -> None:
    """Waits until nobody writes dependencies of the guild; then a job may end."""
    rows("share_needs", {"guild_id": guild_id})


def lock_ledger(guild_id: GuildId) -> None:
    """Waits until nobody else appends to the guild's ledger."""
    rows("lock_ledger", {"guild_id": guild_id})
