"""Prune: finished sessions that are old go, with all that is theirs; the ledger stays."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

from guildqueue.domain.errors import GuildNotFound, InvalidInput
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.prune_cursors import prune_cursors
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds, jobs, locks, pruning, result_files
from guildqueue.store.pruning import OldJob, OldSession

DAYS_MOST = 36_500
BATCH_MOST = 1_000
BATCH = 50
# Each such read looks at all that is old, so it should serve many batches.
PAGE = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedGuild:
    """What went of a guild, or would go."""

    guild_id: GuildId
    n_sessions: int
    n_jobs: int
    n_files: int


def age_limit(days: int) -> datetime:
    """The moment ``days`` back, by the database's clock. Raises InvalidInput."""
    if not 0 <= days <= DAYS_MOST:
        raise InvalidInput("older-than", days, f"a number of days from 0 to {DAYS_MOST}")
    return pruning.read_age_limit(days)


def prune_guild(
    guild_id: GuildId, *, ended_before: datetime, batch: int = BATCH, dry_run: bool = False
) -> PrunedGuild:
    """What went: the sessions of which every job ended before that moment.

    They go ``batch`` at a time, ascending, each batch in a transaction of its own that waits for
    nobody but who changes dependencies; what others hold locked stays until the next time. Their
    files go once the batch is committed. With ``dry_run`` nothing is written.
    Raises GuildNotFound or InvalidInput.
    """
    if not 1 <= batch <= BATCH_MOST:
        raise InvalidInput("batch", batch, f"a number of sessions from 1 to {BATCH_MOST}")
    if guilds.read_guild(guild_id) is None:
        raise GuildNotFound(guild_id)
    n_sessions = n_jobs = n_files = 0
    for found in _batches(guild_id, ended_before, batch):
        if dry_run:
            n_sessions += len(found)
            n_jobs += sum(session.n_jobs for session in found)
            continue
        session_ids = [session.session_id for session in found]
        gone = _prune_batch(guild_id, session_ids, ended_before)
        n_sessions += len({job.session_id for job in gone})
        n_jobs += len(gone)
        n_files += _remove_files(guild_id, gone)
    return PrunedGuild(guild_id=guild_id, n_sessions=n_sessions, n_jobs=n_jobs, n_files=n_files)


def prune_all_cursors() -> int:
    """How many turns were dropped that no claim reads any more."""
    dropped = 0
    while n_dropped := prune_cursors():
        dropped += n_dropped
    return dropped


def _batches(
    guild_id: GuildId, ended_before: datetime, batch: int
) -> Iterator[Sequence[OldSession]]:
    after = 0
    while page := pruning.read_old_sessions(
        guild_id, ended_before=ended_before, after=after, limit=PAGE
    ):
        for start in range(0, len(page), batch):
            yield page[start : start + batch]
        after = page[-1].session_id


@decided_in_transaction
def _prune_batch(
    guild_id: GuildId, session_ids: Sequence[SessionId], ended_before: datetime
) -> list[OldJob]:
    """The jobs that went. Locks: the needs lock, shared; sessions, then jobs, SKIP LOCKED."""
    # Nobody makes a job need one of these while they go; completions share the lock.
    locks.share_needs(guild_id)
    gone = pruning.lock_old_jobs(guild_id, session_ids, ended_before=ended_before)
    if gone:
        pruning.delete_old(guild_id, gone)
        jobs.fold_counters(guild_id)
    return gone


def _remove_files(guild_id: GuildId, gone: Sequence[OldJob]) -> int:
    names: defaultdict[SessionId, list[str | None]] = defaultdict(list)
    for job in gone:
        names[job.session_id].append(job.path)
    root = Path(settings.MEDIA_ROOT)
    return sum(
        result_files.remove_results(root, guild_id, session_id, paths)
        for session_id, paths in names.items()
    )
