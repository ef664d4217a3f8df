"""One meeting in full: its people, its jobs and what came of them."""

from dataclasses import dataclass
from datetime import datetime

from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.job import Job, Kind
from guildqueue.domain.new_session import NewParticipant
from guildqueue.domain.snapshot import SessionEntry, WaitsFor


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetail:
    """A job with why it waits, and who leases it until when where it runs."""

    job: Job
    waits_for: WaitsFor | None
    lease_by: str | None
    lease_expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetail:
    """``jobs`` in ascending id; ``entry`` is the session's row in the queue.

    ``version`` is as a snapshot's, "" where nobody read it.
    """

    guild: GuildRecord
    entry: SessionEntry
    external_id: str | None
    participants: tuple[NewParticipant, ...]
    jobs: tuple[JobDetail, ...]
    version: str = ""

    @property
    def tracks(self) -> tuple[JobDetail, ...]:
        """The speakers' jobs."""
        return tuple(d for d in self.jobs if d.job.kind == Kind.TRANSCRIBE)

    @property
    def document(self) -> JobDetail | None:
        """The newest document job; None while the session is still recording."""
        documents = [d for d in self.jobs if d.job.kind == Kind.DOCUMENT]
        return documents[-1] if documents else None
