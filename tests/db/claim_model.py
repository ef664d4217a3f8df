"""A queue as docs/queue.md has it, in plain Python: whose job a claim takes, and what ready lists.

It shares nothing with the code under test but its filter and its ids, has no clock (what is due and
which lease is lost is said to it), and looks at every job every time.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId, SessionId

OUTSTANDING = ("pending", "running")
ANYTHING = JobFilter()

Scope = tuple[object, ...]


@dataclass(slots=True)
class Guild:
    id: GuildId
    name: str
    cap: int | None = None
    is_held: bool = False


@dataclass(slots=True)
class Session:
    id: SessionId
    name: str
    guild: GuildId
    is_recording: bool = False
    is_held: bool = False


@dataclass(slots=True, kw_only=True)
class Job:
    """``is_deferred``: not before a moment to come; ``is_lost``: running, its lease expired."""

    id: JobId
    name: str
    guild: GuildId
    session: SessionId
    kind: str
    priority: int
    assignee_kind: str = "worker"
    labels: frozenset[str] = frozenset()
    external_id: str | None = None
    needs: frozenset[JobId] = frozenset()
    state: str = "pending"
    is_deferred: bool = False
    bump: int | None = None
    is_named: bool = False
    attempt: int = 0
    token: int = 0
    lease_by: str | None = None
    is_lost: bool = False
    request_id: str | None = None

    @property
    def is_outstanding(self) -> bool:
        return self.state in OUTSTANDING

    @property
    def sort_key(self) -> tuple[int, int]:
        return (self.priority, self.id)

    @property
    def line_key(self) -> tuple[bool, int, int, int]:
        """Lane first in the order of entering, then the number, then the id."""
        return (self.bump is None, self.bump or 0, self.priority, self.id)

    def leave(self, state: str) -> None:
        """It runs no more. What ended is out of the lane, what is pending keeps its place."""
        self.state, self.lease_by, self.is_lost = state, None, False
        if not self.is_outstanding:
            self.bump, self.is_named = None, False


@dataclass(slots=True)
class ClaimModel:
    """``cursors`` has the guild of the last turn, by principal and scope."""

    order: str
    default_cap: int | None
    max_attempts: int
    guilds: dict[GuildId, Guild] = field(default_factory=dict)
    sessions: dict[SessionId, Session] = field(default_factory=dict)
    jobs: dict[JobId, Job] = field(default_factory=dict)
    cursors: dict[tuple[str, Scope], GuildId] = field(default_factory=dict)

    def copied(self) -> "ClaimModel":
        return ClaimModel(
            self.order,
            self.default_cap,
            self.max_attempts,
            {guild_id: copy(guild) for guild_id, guild in self.guilds.items()},
            {session_id: copy(session) for session_id, session in self.sessions.items()},
            {job_id: copy(job) for job_id, job in self.jobs.items()},
            dict(self.cursors),
        )

    def of_session(self, session: SessionId) -> list[Job]:
        return [job for job in self.jobs.values() if job.session == session]

    def is_waiting_for_needs(self, job: Job) -> bool:
        return any(self.jobs[need].state != "done" for need in job.needs)

    def n_running(self, guild: GuildId) -> int:
        """How many slots are taken: a lost lease keeps its own."""
        return sum(job.state == "running" and job.guild == guild for job in self.jobs.values())

    def cap(self, guild: GuildId) -> int | None:
        own = self.guilds[guild].cap
        return self.default_cap if own is None else own

    def may_run(self, job: Job) -> bool:
        """Whether a claim could take the job now, slots included."""
        if self.guilds[job.guild].is_held or self.sessions[job.session].is_held:
            return False
        if self.is_waiting_for_needs(job):
            return False
        if job.state == "running":
            return job.is_lost and job.attempt < self.max_attempts
        cap = self.cap(job.guild)
        has_slot = cap is None or self.n_running(job.guild) < cap
        return job.state == "pending" and not job.is_deferred and has_slot

    def claimable(self, wanted: JobFilter) -> list[Job]:
        """All that one claim could take, in the deployment's order."""
        found = [job for job in self.jobs.values() if fits(job, wanted) and self.may_run(job)]
        return sorted(found, key=lambda job: job.line_key)

    def claim(
        self, who: str, wanted: JobFilter, *, count: int, request_id: str | None = None
    ) -> list[Job]:
        """What the claim takes, in that order; leases that a request id was given still hold."""
        self.bury_lost()
        known = self.given(who, request_id)
        if known:
            return known
        taken: list[Job] = []
        while len(taken) < count and (job := self._next(who, wanted)):
            self._take(job, who, request_id)
            taken.append(job)
        return taken

    def given(self, who: str, request_id: str | None) -> list[Job]:
        if request_id is None:
            return []
        holding = [job for job in self.jobs.values() if job.state == "running" and not job.is_lost]
        return [job for job in holding if (job.lease_by, job.request_id) == (who, request_id)]

    def bury_lost(self) -> None:
        """A lease lost at the last attempt ends the job in the next claim."""
        for job in self.jobs.values():
            if job.is_lost and job.attempt >= self.max_attempts:
                job.leave("dead")

    def _next(self, who: str, wanted: JobFilter) -> Job | None:
        line = self.claimable(wanted)
        if not line or line[0].bump is not None or self.order == "global":
            return line[0] if line else None
        cursor = (who, scope_of(wanted))
        guild = self._turn({job.guild for job in line}, self.cursors.get(cursor, GuildId(0)))
        self.cursors[cursor] = guild
        return next(job for job in line if job.guild == guild)

    def _turn(self, eligible: set[GuildId], last: GuildId) -> GuildId:
        """The next guild above the last one, else the first of all."""
        return min({guild for guild in eligible if guild > last} or eligible)

    def _take(self, job: Job, who: str, request_id: str | None) -> None:
        job.state, job.lease_by, job.request_id = "running", who, request_id
        job.is_lost = job.is_deferred = False
        job.attempt += 1
        job.token += 1

    def ready(self, who: str, wanted: JobFilter, *, limit: int) -> list[Job]:
        """What as many single claims would take, taken of a copy."""
        ahead = self.copied()
        return list(ahead.claims(who, wanted, limit))

    def claims(self, who: str, wanted: JobFilter, n: int) -> Iterator[Job]:
        for _ in range(n):
            taken = self.claim(who, wanted, count=1)
            if not taken:
                return
            yield from taken

    def held_count(self, who: str, wanted: JobFilter) -> int:
        """How many an empty page would list but for a hold."""
        free = self.copied()
        for guild in free.guilds.values():
            guild.is_held = False
        for session in free.sessions.values():
            session.is_held = False
        return len(free.ready(who, wanted, limit=len(self.jobs)))


def fits(job: Job, wanted: JobFilter) -> bool:
    """Whether the filter of a claim lets the job through."""
    return (
        (not wanted.guilds or job.guild in wanted.guilds)
        and (not wanted.kinds or job.kind in wanted.kinds)
        and wanted.labels <= job.labels
        and (not wanted.any_labels or bool(wanted.any_labels & job.labels))
        and job.assignee_kind == (wanted.assignee_kind or "worker")
        and (wanted.min_priority is None or job.priority >= wanted.min_priority)
        and (wanted.max_priority is None or job.priority <= wanted.max_priority)
        and wanted.session in {None, job.session}
    )


def scope_of(wanted: JobFilter) -> Scope:
    """What tells one rotation of a principal from another: all that defines the scope."""
    return (
        wanted.guilds,
        wanted.kinds,
        wanted.labels,
        wanted.any_labels,
        wanted.assignee_kind or "worker",
        wanted.min_priority,
        wanted.max_priority,
        wanted.session,
    )
