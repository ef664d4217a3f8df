"""What every service that a person asks for ends with: the record of it, and the word of it."""

from collections.abc import Mapping
from typing import Any

from guildqueue.domain.ids import GuildId
from guildqueue.domain.ledger import EventType, LedgerRecord
from guildqueue.domain.principal import Caller
from guildqueue.store import ledger, notify


def record_change(
    guild_id: GuildId,
    type_: EventType,
    *,
    caller: Caller,
    changed: Mapping[str, Any],
    reason: str = "",
) -> LedgerRecord:
    """Append what was changed to the guild's ledger, and tell whoever looks at the guild.

    The last writes of the transaction: it holds the ledger lock until it ends, and is heard
    of when it commits. What changed nothing is not told: a refusal is appended alone.
    """
    record = ledger.append(guild_id, type_, caller=caller, changed=changed, reason=reason)
    notify.notify_changed(guild_id)
    return record


def record_request(
    guild_id: GuildId,
    type_: EventType,
    *,
    caller: Caller,
    changed: Mapping[str, Any],
    reason: str = "",
    untrusted: bool = False,
) -> LedgerRecord:
    """Append a request that changed nothing, refused or admitted; nobody is told of it.

    ``untrusted`` marks what somebody sent who had no right to ask.
    """
    return ledger.append(
        guild_id, type_, caller=caller, changed=changed, reason=reason, untrusted=untrusted
    )
