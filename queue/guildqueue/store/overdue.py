"""What time alone has made claimable, or dead: leases that ran out, delays that ended."""

from guildqueue.store.statements import execute, rows, sole


def is_overdue() -> bool:
    """Whether there is anything that no claim knows of yet. Locks nothing, writes nothing."""
    return bool(sole("is_overdue", {}).is_overdue)


def lock_overdue(*, waits: bool) -> bool:
    """True once nobody else settles what is overdue; False if somebody does, unless it waits."""
    if waits:
        rows("lock_overdue", {})
        return True
    return bool(sole("try_lock_overdue", {}).is_locked)


def settle_leases() -> int:
    """How many leases were found to be lost: their jobs are dead, or marked for the next claim."""
    n_dead, n_lost = execute("bury_lost_jobs", {}), execute("notice_lost", {})
    if n_lost:
        rows("flag_lost", {})
    return n_dead + n_lost


def stop_deferring(*, is_lane: bool) -> int:
    """How many jobs joined their line because they became due, at most 10,000 at once."""
    guilds = [due.guild_id for due in rows("lock_due_marks", {"is_lane": is_lane})]
    return execute("stop_deferring", {"is_lane": is_lane, "guilds": guilds}) if guilds else 0
