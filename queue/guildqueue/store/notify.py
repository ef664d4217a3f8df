"""What is said to every process that listens: which guild a person changed."""

from guildqueue.domain.ids import GuildId
from guildqueue.store.statements import rows

CHANNEL = "guildqueue_changes"


def notify_changed(guild_id: GuildId) -> None:
    """Say, once the transaction commits, that a person changed the guild's queue."""
    notify(str(guild_id))


def notify(payload: str) -> None:
    """Say ``payload`` on the channel, once the transaction commits."""
    rows("notify", {"channel": CHANNEL, "payload": payload})
