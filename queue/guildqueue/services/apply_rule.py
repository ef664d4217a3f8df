"""Quick actions: the whole order by a named key, for real or as a preview."""

from collections.abc import Sequence

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.ledger import EventType
from guildqueue.domain.moves import MovePlan
from guildqueue.domain.principal import Caller
from guildqueue.domain.rules import plan_rule
from guildqueue.services.move import MoveOutcome
from guildqueue.services.record import record_change
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import locks, orders, sessions


@decided_in_transaction
def apply_rule(guild_id: GuildId, *, rule: str, caller: Caller) -> MoveOutcome:
    """The order that ``rule`` gives; nothing is written for an order that already holds.

    Locks: the guild's order, then only the rows it writes. Raises InvalidInput for an unknown
    rule, PriorityExhausted or QueueBusy.
    """
    locks.lock_order(guild_id)
    plan = _plan(guild_id, rule)
    if not plan.changed:
        return MoveOutcome(changed=(), order=plan.order)
    # A session may have ended between the reading and the locking.
    written = orders.write_priorities(guild_id, plan.changed)
    changed = tuple(session_id for session_id in plan.changed if session_id in written)
    if changed:
        sessions.mark_moved(guild_id, changed, by=str(caller.principal), place=rule)
        _record(guild_id, rule, changed, caller)
    return MoveOutcome(changed=changed, order=plan.order)


def _record(guild_id: GuildId, rule: str, changed: Sequence[SessionId], caller: Caller) -> None:
    facts = {"rule": rule, "sessions": [str(session_id) for session_id in changed]}
    record_change(guild_id, EventType.RULE_APPLIED, caller=caller, changed=facts)


@decided_in_transaction
def preview_rule(guild_id: GuildId, *, rule: str) -> MoveOutcome:
    """The order that ``rule`` would give and what it would write; nothing is written."""
    plan = _plan(guild_id, rule)
    return MoveOutcome(changed=tuple(plan.changed), order=plan.order)


def _plan(guild_id: GuildId, rule: str) -> MovePlan:
    queue = orders.read_order(guild_id).queue
    return plan_rule(rule, orders.read_measured(guild_id, queue))
