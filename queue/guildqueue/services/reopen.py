"""Reopen: jobs that run again, and with them what was built on them."""

from collections.abc import Sequence

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.store import jobs


def reopen_jobs(guild_id: GuildId, targets: Sequence[JobId]) -> tuple[JobId, ...]:
    """The jobs that are pending again, ascending, in the caller's transaction.

    Those are the targets and, transitively, what needs them, as far as they ended or run; what
    only waits for them waits again. The caller holds the order lock and the needs lock.
    """
    dependents = _lock_dependents(guild_id, targets)
    again = [*targets, *dependents.reopened]
    reopened = jobs.reopen_jobs(guild_id, again)
    jobs.recount_needs(guild_id, [*again, *dependents.waiting])
    return reopened


def _lock_dependents(guild_id: GuildId, targets: Sequence[JobId]) -> jobs.Dependents:
    """What needs the targets, judged once all of it is locked.

    A claim takes no lock of the guild: until its row is locked, a document that only waits
    may begin to run.
    """
    while True:
        found = jobs.read_dependents(guild_id, targets)
        jobs.lock_jobs(guild_id, [*targets, *found.reopened, *found.waiting])
        if jobs.read_dependents(guild_id, targets) == found:
            return found
