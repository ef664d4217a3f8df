"""The append-only record of every request that could change a guild's order."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import rfc8785

from guildqueue.domain.ids import EventId, GuildId
from guildqueue.domain.ledger import EventType, LedgerRecord, digest_input
from guildqueue.domain.principal import Caller
from guildqueue.domain.redaction import redact, redact_value
from guildqueue.store.locks import lock_ledger
from guildqueue.store.statements import execute, rows, sole


def digest_of(record: LedgerRecord) -> str:
    """SHA-256, in hex, of the record's canonical JSON. Source: RFC 8785."""
    return hashlib.sha256(rfc8785.dumps(digest_input(record))).hexdigest()


def append(
    guild_id: GuildId,
    type_: EventType,
    *,
    caller: Caller,
    changed: Mapping[str, Any],
    reason: str = "",
    untrusted: bool = False,
) -> LedgerRecord:
    """The new record, chained to the guild's newest one, secrets already taken out.

    Takes the ledger lock until the transaction ends, so it is a transaction's last write.
    """
    lock_ledger(guild_id)
    head = sole("read_ledger_head", {"guild_id": guild_id})
    unsealed = LedgerRecord(
        event_id=EventId(head.event_id),
        guild_id=guild_id,
        at=head.at,
        type=type_,
        by=redact(str(caller.principal)),
        on_behalf_of=redact(caller.on_behalf_of) if caller.on_behalf_of else None,
        reason=redact(reason),
        changed=redact_value(changed),
        correlation_id=caller.correlation_id,
        untrusted=untrusted,
        prev_digest=head.prev_digest,
        digest="",
    )
    record = replace(unsealed, digest=digest_of(unsealed))
    execute("append_record", {**_columns(record), "changed": json.dumps(record.changed)})
    return record


def _columns(record: LedgerRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in LedgerRecord.__dataclass_fields__}


def read_page(
    guild_id: GuildId, *, before: EventId | None = None, limit: int = 50
) -> list[LedgerRecord]:
    """Records older than ``before``, newest first."""
    found = rows("read_records", {"guild_id": guild_id, "before": before, "limit": limit})
    return [record_from_row(found_row) for found_row in found]


def read_after(guild_id: GuildId, *, after: EventId, limit: int) -> list[LedgerRecord]:
    """Records newer than ``after``, oldest first."""
    found = rows("read_records_after", {"guild_id": guild_id, "after": after, "limit": limit})
    return [record_from_row(found_row) for found_row in found]


def record_from_json(found: Mapping[str, Any]) -> LedgerRecord:
    """The record that a row holds which was read as one JSON object."""
    return LedgerRecord(**{**found, "at": datetime.fromisoformat(found["at"])})


def record_from_row(found: Any) -> LedgerRecord:
    """The record a row holds."""
    changed = found.changed if isinstance(found.changed, dict) else json.loads(found.changed)
    return LedgerRecord(**{**found._asdict(), "changed": changed})
