"""Quick actions: the whole order by a named key, for real or as a preview."""

from guildqueue.domain.ids import GuildId
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
    if plan.changed:
        orders.write_priorities(guild_id, plan.changed)
        sessions.mark_moved(guild_id, plan.changed, by=str(caller.principal), place=rule)
        changed = {"rule": rule, "sessions": [str(session_id) for session_id in plan.changed]}
        record_change(guild_id, EventType.RULE_APPLIED, caller=caller, changed=changed)
    return MoveOutcome(changed=tuple(plan.changed), order=plan.order)


@decided_in_transaction
def preview_rule(guild_id: GuildId, *, rule: str) -> MoveOutcome:
    """The order that ``rule`` would give and what it would write; nothing is written."""
    plan = _plan(guild_id, rule)
    return MoveOutcome(changed=tuple(plan.changed), order=plan.order)


def _plan(guild_id: GuildId, rule: str) -> MovePlan:
    queue = orders.read_order(guild_id).queue
    return plan_rule(rule, orders.read_measured(guild_id, queue))
