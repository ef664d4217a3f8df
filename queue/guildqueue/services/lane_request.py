"""Every bump and un-bump: judged before anything is looked up, on record whatever comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Required, TypedDict

from guildqueue.domain.errors import GuildNotFound, QueueError, SessionNotFound
from guildqueue.domain.grant import Asker, Verdict, judge
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane import LanePlan, plan_bump, plan_sweep, plan_unbump
from guildqueue.domain.lane_log import plan_effects
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import NotGranted, SessionFinished
from guildqueue.domain.ledger import EventType
from guildqueue.domain.principal import Caller
from guildqueue.services.guild_root import guild_root
from guildqueue.services.record import record_change, record_request
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds, lane, locks, sessions
from guildqueue.store.grant_files import read_guild_declaration


class LaneVerb(StrEnum):
    """What was asked for."""

    BUMP = "bump"
    UNBUMP = "unbump"
    REQUEUE = "requeue"
    ADD = "add"


class Asked(TypedDict, total=False):
    """What every request of the lane says, whatever it names."""

    guild_id: Required[GuildId]
    asker: Required[Asker]
    reason: str
    correlation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRequest:
    """What somebody asks of one job or one session, and why.

    ``job_id`` and ``session_id`` are both None for a job that is to be added; ``external_id`` is
    what the outside calls that one.
    """

    verb: LaneVerb
    guild_id: GuildId
    asker: Asker
    job_id: JobId | None = None
    session_id: SessionId | None = None
    external_id: str | None = None
    reason: str = ""
    correlation_id: str = ""

    @property
    def named(self) -> dict[str, Any]:
        """What the request names, as an outcome and a record have it."""
        return {"job_id": self.job_id, "session_id": self.session_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to write of the lane; ``also`` are records of what else was changed with it."""

    plan: LanePlan[JobId]
    targets: Sequence[JobId]
    also: Sequence[tuple[EventType, Mapping[str, Any]]] = ()


Decide = Callable[[], Decision]


def answer(request: LaneRequest, decide: Decide) -> LaneOutcome:
    """Judge who asks, and only then let ``decide`` look, in a transaction under the order lock.

    A refusal leaves nothing but its record. Raises GuildNotFound, of which there is no record.
    """
    guild = guilds.read_guild(request.guild_id)
    if guild is None:
        raise GuildNotFound(request.guild_id)
    verdict = judge(read_guild_declaration(guild_root(guild)), request.asker)
    try:
        if verdict.refusal is not None:
            raise NotGranted(verdict.principal, verdict.refusal)
        return _decided(request, _caller(request, verdict), decide)
    except QueueError as error:
        outcome = LaneOutcome.of_error(error, **request.named)
        _record_refusal(request, verdict, outcome)
        # Not before: the record is read over HTTP too, where no path of this host is told.
        return outcome.placed(verdict.place)


def decide_bump(guild_id: GuildId, targets: Sequence[JobId]) -> Decision:
    """Name the targets; under the order lock. A note tells of those that still may not run."""
    plan = plan_bump(lane.lock_lane(guild_id, targets), targets)
    kept = [f"{t.job_id} ({t.gate})" for t in lane.read_targets(guild_id, targets) if t.gate]
    held_back = [f"may not run yet, and keeps its place: {', '.join(kept)}"] if kept else []
    note = "; ".join([note for note in (plan.note, *held_back) if note])
    return Decision(plan=replace(plan, note=note), targets=targets)


def decide_unbump(guild_id: GuildId, targets: Sequence[JobId]) -> Decision:
    """Take the targets back, judged as one set; under the order lock."""
    plan = plan_unbump(lane.lock_lane(guild_id, targets), targets)
    return Decision(plan=plan, targets=targets)


def decide_session_bump(guild_id: GuildId, session_id: SessionId) -> Decision:
    """Name every outstanding job of the session. Raises SessionNotFound."""
    targets = _session_targets(guild_id, session_id)
    if targets:
        return decide_bump(guild_id, targets)
    swept = plan_sweep(lane.lock_lane(guild_id, ()))
    note = f"session {session_id} has nothing outstanding: nothing to move"
    return Decision(plan=replace(swept, note=note), targets=())


def decide_session_unbump(guild_id: GuildId, session_id: SessionId) -> Decision:
    """Take every outstanding job of the session back. Raises SessionNotFound, SessionFinished."""
    targets = _session_targets(guild_id, session_id)
    if not targets:
        raise SessionFinished(session_id)
    return decide_unbump(guild_id, targets)


def _session_targets(guild_id: GuildId, session_id: SessionId) -> list[JobId]:
    if not sessions.read_titles(guild_id, [session_id]):
        raise SessionNotFound(session_id)
    return lane.session_targets(guild_id, session_id)


@decided_in_transaction
def _decided(request: LaneRequest, caller: Caller, decide: Decide) -> LaneOutcome:
    locks.lock_order(request.guild_id)
    decision = decide()
    plan = decision.plan
    lane.write_plan(request.guild_id, plan, by=caller.spelled, reason=request.reason)
    for type_, changed in decision.also:
        record_change(
            request.guild_id, type_, caller=caller, changed=changed, reason=request.reason
        )
    is_unbump = request.verb is LaneVerb.UNBUMP
    record = record_change if plan.writes else record_request
    record(
        request.guild_id,
        EventType.PRIORITY_UNBUMPED if is_unbump else EventType.PRIORITY_BUMPED,
        caller=caller,
        changed={**_told(request, decision), **plan_effects(plan)},
        reason=request.reason,
    )
    job_id = request.job_id
    if request.verb is LaneVerb.ADD:
        job_id = decision.targets[0]
    return LaneOutcome.of_plan(plan, job_id=job_id, session_id=request.session_id)


def _told(request: LaneRequest, decision: Decision) -> dict[str, Any]:
    """What the record of an admitted request names, its meeting by title too."""
    targets = lane.read_targets(request.guild_id, decision.targets[:1])
    job_id = decision.targets[0] if request.verb is LaneVerb.ADD else request.job_id
    session_id = targets[0].session_id if targets else request.session_id
    return {
        "verb": request.verb.value,
        "job_id": None if job_id is None else str(job_id),
        "session_id": None if session_id is None else str(session_id),
        **_external(request),
        "title": targets[0].title if targets else None,
    }


@decided_in_transaction
def _record_refusal(request: LaneRequest, verdict: Verdict, outcome: LaneOutcome) -> None:
    record_request(
        request.guild_id,
        EventType.PRIORITY_REFUSED,
        caller=_caller(request, verdict),
        changed={
            "verb": request.verb.value,
            "job_id": outcome.job_id,
            "session_id": outcome.session_id,
            **_external(request),
            "title": _title(request) if verdict.is_granted else None,
            "refusal": None if outcome.refusal is None else outcome.refusal.value,
            "note": outcome.note,
        },
        reason=request.reason,
        untrusted=not verdict.is_granted,
    )


def _title(request: LaneRequest) -> str | None:
    """That of the meeting whose refusal is recorded, None where there is no such meeting."""
    if request.session_id is not None:
        titles = sessions.read_titles(request.guild_id, [request.session_id])
        return titles.get(request.session_id)
    targets = lane.read_targets(request.guild_id, [request.job_id] if request.job_id else [])
    return targets[0].title if targets else None


def _external(request: LaneRequest) -> dict[str, str]:
    return {} if request.external_id is None else {"external_id": request.external_id}


def _caller(request: LaneRequest, verdict: Verdict) -> Caller:
    return Caller(
        principal=verdict.principal,
        correlation_id=request.correlation_id,
        on_behalf_of=request.asker.on_behalf_of if verdict.is_granted else None,
    )
