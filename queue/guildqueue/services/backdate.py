"""Give a meeting the past that it would have: for a demo that begins with a history.

The ledger is left alone: its moments are the database's own, and nobody writes them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import past


class EndedJob(NamedTuple):
    """When a job that ended was begun and ended."""

    job_id: JobId
    started_at: datetime
    finished_at: datetime


@decided_in_transaction
def backdate_session(
    session_id: SessionId,
    *,
    guild_id: GuildId,
    created_at: datetime,
    ended: Sequence[EndedJob] = (),
) -> None:
    """The session and its jobs came in at ``created_at``; ``ended`` jobs ended when they say.

    A job that has not ended keeps having no such moments.
    """
    past.backdate_session(guild_id, session_id, created_at)
    past.backdate_jobs(guild_id, ended)
