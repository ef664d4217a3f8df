"""Bump or un-bump an item of a queue without a database, on the record whatever comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from guildqueue.domain.errors import QueueBusy, QueueError
from guildqueue.domain.grant import Asker, Declaration, Verdict, judge
from guildqueue.domain.lane import LanePlan, plan_bump, plan_unbump
from guildqueue.domain.lane_log import LaneRecord, plan_effects
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import NotGranted, refusal_word
from guildqueue.domain.ledger import EventType
from guildqueue.store import lane_file
from guildqueue.store.lane_file import LaneFolder, LaneState
from guildqueue.store.plain_files import told

MAX_TEXT = 200  # characters of what a request may say before it is known to be right


class Verb(StrEnum):
    """What was asked for."""

    BUMP = "bump"
    UNBUMP = "unbump"
    PUSH = "push"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRequest:
    """What somebody asks of one item, and why."""

    verb: Verb
    slug: str
    asker: Asker
    reason: str = ""
    correlation_id: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to write; ``new_needs`` are those of an item that is new, None for a known one."""

    plan: LanePlan[str]
    new_needs: tuple[str, ...] | None = None


Decide = Callable[[LaneState], Decision]


def bump_item(
    folder: Path, *, slug: str, asker: Asker, reason: str = "", correlation_id: str = ""
) -> LaneOutcome:
    """The item named to run next, with what it needs before it.

    Raises OSError where there is no queue, or where an admitted request cannot be recorded;
    then nothing has changed.
    """
    request = ItemRequest(
        verb=Verb.BUMP, slug=slug, asker=asker, reason=reason, correlation_id=correlation_id
    )
    return answer(folder, request, lambda state: Decision(plan_bump(state.jobs, [slug])))


def unbump_item(
    folder: Path, *, slug: str, asker: Asker, reason: str = "", correlation_id: str = ""
) -> LaneOutcome:
    """The item taken back, with whatever only it had pulled in. Raises as bump_item does."""
    request = ItemRequest(
        verb=Verb.UNBUMP, slug=slug, asker=asker, reason=reason, correlation_id=correlation_id
    )
    return answer(folder, request, lambda state: Decision(plan_unbump(state.jobs, [slug])))


def answer(path: Path, request: ItemRequest, decide: Decide) -> LaneOutcome:
    """Judge who asks, and only then look at the queue; record what came of it.

    Everything from the reading to the record is done under the folder's lock.
    """
    folder = LaneFolder(path)
    declaration = lane_file.read_declaration(folder)
    verdict = judge(declaration, request.asker)
    if verdict.refusal is not None:
        return _turn_away(folder, request, verdict, declaration)
    try:
        with lane_file.alone(folder):
            return _decided(folder, request, verdict, decide)
    except QueueBusy as error:
        lane_file.append_record_from_outside(folder, _refused(request, verdict, error))
        return LaneOutcome.of_error(error, job_id=request.slug)


def _decided(
    folder: LaneFolder, request: ItemRequest, verdict: Verdict, decide: Decide
) -> LaneOutcome:
    try:
        state = lane_file.read_state(folder)
        decision = decide(state)
    except QueueError as error:
        lane_file.append_record(folder, _refused(request, verdict, error))
        return LaneOutcome.of_error(error, job_id=request.slug)
    # Lines that somebody took out of queue.txt leave the lane with the next request.
    plan = replace(decision.plan, removed=decision.plan.removed + state.gone)
    if decision.new_needs is not None:
        lane_file.append_item(folder, request.slug, decision.new_needs)
    is_unbump = request.verb is Verb.UNBUMP
    record = _record(
        request,
        EventType.PRIORITY_UNBUMPED if is_unbump else EventType.PRIORITY_BUMPED,
        by=str(verdict.principal),
        changed=plan_effects(plan),
    )
    try:
        lane_file.append_record(folder, record)
    except OSError as error:
        if decision.new_needs is None:
            raise
        raise OSError(f"{request.slug} is in the queue now, but not bumped: {error}") from error
    return LaneOutcome.of_plan(plan, job_id=request.slug)


def _turn_away(
    folder: LaneFolder, request: ItemRequest, verdict: Verdict, declaration: Declaration
) -> LaneOutcome:
    """Refuse who has no grant, recorded if he can add to the log."""
    error = NotGranted(verdict.principal, verdict.refusal or "")
    outcome = LaneOutcome.of_error(error, job_id=request.slug).placed(verdict.place)
    record = replace(_refused(request, verdict, error), untrusted=True)
    try:
        if request.asker.uid in {declaration.owner_uid, 0}:
            with lane_file.alone(folder):
                lane_file.append_record(folder, record)
        else:
            # Never made by a stranger: whose log it is decides whether it is believed.
            lane_file.append_record_from_outside(folder, record)
    except OSError as failure:
        return replace(outcome, note=f"{outcome.note}; not recorded: {told(failure)}")
    except QueueBusy as failure:
        return replace(outcome, note=f"{outcome.note}; not recorded: {failure}")
    return outcome


def _refused(request: ItemRequest, verdict: Verdict, error: QueueError) -> LaneRecord:
    changed = {"refusal": refusal_word(error).value, "note": str(error)}
    return _record(request, EventType.PRIORITY_REFUSED, by=str(verdict.principal), changed=changed)


def _record(
    request: ItemRequest, type_: EventType, *, by: str, changed: Mapping[str, object]
) -> LaneRecord:
    return LaneRecord(
        type=type_,
        by=by,
        on_behalf_of=request.asker.on_behalf_of,
        reason=request.reason,
        changed={"verb": request.verb.value, "job_id": request.slug[:MAX_TEXT], **changed},
        correlation_id=request.correlation_id,
    )
