"""The planners with nothing but a dictionary under them: what every store is compared with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from guildqueue.domain.errors import QueueError
from guildqueue.domain.grant import (
    LANE_TABLE,
    Asker,
    Declaration,
    MalformedDeclaration,
    declared_sources,
    judge,
)
from guildqueue.domain.lane import (
    LaneJob,
    LanePlan,
    Standing,
    plan_bump,
    plan_unbump,
    running_order,
)
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import NotGranted
from guildqueue.domain.order import SortKey
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.domain.redaction import redact
from tests.conformance.protocol import Answer, Recorded, Who
from tests.lane_builders import Jobs, ended, written

OPERATOR_UID, STRANGER_UID = 1001, 1002


class PlannedLane:
    """A lane in memory."""

    def __init__(self) -> None:
        self._jobs: Jobs = {}
        self._records: list[Recorded] = []
        self._declaration: bytes | None = None

    def declare(self, content: bytes | None) -> None:
        self._declaration = content

    def push(
        self,
        name: str,
        *,
        needs: Iterable[str] = (),
        bump: bool = False,
        who: Who = Who.OPERATOR,
        reason: str = "",
    ) -> Answer:
        jobs = self._jobs if name in self._jobs else {**self._jobs, name: self._new(name, needs)}
        if bump:
            return self._ask(
                "PriorityBumped", name, who, reason, lambda: (jobs, plan_bump(jobs, [name]))
            )
        self._jobs = dict(jobs)
        return Answer(accepted=True)

    def bump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        return self._ask(
            "PriorityBumped",
            name,
            who,
            reason,
            lambda: (self._jobs, plan_bump(self._jobs, [name])),
        )

    def unbump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        return self._ask(
            "PriorityUnbumped",
            name,
            who,
            reason,
            lambda: (self._jobs, plan_unbump(self._jobs, [name])),
        )

    def settle(self, name: str, state: str) -> None:
        self._jobs = ended(self._jobs, name, Standing(state))

    def start(self, name: str) -> None:
        self._jobs[name] = replace(self._jobs[name], standing=Standing.RUNNING)

    def lease(self, name: str) -> object:
        return self._jobs[name].standing

    def write_as_newer(self, name: str) -> None:
        self._jobs[name] = replace(self._jobs[name], standing=Standing.NEWER)

    def entangle(self, name: str, needs: Iterable[str]) -> None:
        self._jobs[name] = replace(self._jobs[name], needs=tuple(needs))

    def jobs(self) -> Mapping[str, LaneJob[str]]:
        return dict(self._jobs)

    def order(self) -> list[str]:
        return [job.id for job in running_order(self._jobs.values())]

    def records(self) -> list[Recorded]:
        return list(self._records)

    def _new(self, name: str, needs: Iterable[str]) -> LaneJob[str]:
        key = SortKey(0, len(self._jobs))
        return LaneJob(id=name, standing=Standing.PENDING, sort_key=key, needs=tuple(needs))

    def _ask(
        self,
        type_: str,
        name: str,
        who: Who,
        reason: str,
        decide: Callable[[], tuple[Mapping[str, LaneJob[str]], LanePlan[str]]],
    ) -> Answer:
        uid = OPERATOR_UID if who.is_operators_account else STRANGER_UID
        account = Principal(PrincipalKind.ACCOUNT, who.name)
        verdict = judge(self._declared(), Asker(uid=uid, principal=account, source=who.source))
        try:
            if verdict.refusal is not None:
                raise NotGranted(verdict.principal, verdict.refusal)
            jobs, plan = decide()
        except QueueError as error:
            outcome = LaneOutcome.of_error(error, job_id=name)
            type_ = "PriorityRefused"
        else:
            outcome = LaneOutcome.of_plan(plan, job_id=name)
            self._jobs = written(jobs, plan)
        self._records.append(
            Recorded(
                type=type_,
                by=verdict.principal.kind,
                job=name,
                reason=redact(reason),
                refusal=outcome.refusal,
                moved=outcome.moved,
                removed=outcome.removed,
                note=outcome.note,
                untrusted=not verdict.is_granted,
            )
        )
        return answer_of(outcome)

    def _declared(self) -> Declaration:
        try:
            sources = declared_sources(self._declaration or b"", LANE_TABLE)
        except MalformedDeclaration as error:
            return Declaration(owner_uid=OPERATOR_UID, owner_name="ada", fault=str(error))
        return Declaration(owner_uid=OPERATOR_UID, owner_name="ada", sources=sources)


def answer_of(outcome: LaneOutcome) -> Answer:
    return Answer(
        accepted=outcome.accepted,
        refusal=outcome.refusal,
        moved=outcome.moved,
        already=outcome.already,
        removed=outcome.removed,
        skipped=outcome.skipped,
        note=outcome.note,
    )
