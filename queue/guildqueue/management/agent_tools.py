"""The tools for agents: each parses its arguments, calls one service and gives its answer."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from guildqueue.domain.errors import InvalidInput, StaleLease
from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId, SessionId
from guildqueue.domain.job import JobState
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.location import check_result
from guildqueue.domain.moves import check_move
from guildqueue.domain.wire import decision_body, job_body, lease_body, moment
from guildqueue.management import agent_schemas as schemas
from guildqueue.management.account import account_caller
from guildqueue.management.asker import command_asker
from guildqueue.services import browse, bump, unbump
from guildqueue.services.claim import COUNT_MOST, claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.list_jobs import LIMIT_MOST, list_jobs
from guildqueue.services.move import move_session
from guildqueue.services.ready import ready_jobs
from guildqueue.services.release import release_job

Arguments = Mapping[str, Any]
Answer = dict[str, Any]


class LaneRefused(Exception):
    """A bump or un-bump that was not admitted; the outcome says why, and is on record."""

    def __init__(self, outcome: LaneOutcome) -> None:
        self.outcome = outcome
        super().__init__(outcome.note)


@dataclass(frozen=True, slots=True)
class Tool:
    """``run`` gives the answer to arguments that fit ``schema``. Raises QueueError, LaneRefused."""

    about: str
    schema: schemas.Schema
    run: Callable[[Arguments], Answer]


def ready(given: Arguments) -> Answer:
    page = ready_jobs(_principal(), filter=_filter(given), limit=given.get("limit", 50))
    return {"jobs": list(map(job_body, page.jobs)), "held_count": page.held_count}


def claim(given: Arguments) -> Answer:
    leases = claim_jobs(
        _principal(),
        filter=_filter(given),
        count=given.get("count", 1),
        ttl_s=given.get("ttl", 60),
        request_id=given.get("request_id"),
    )
    return {"leases": list(map(lease_body, leases))}


def job_list(given: Arguments) -> Answer:
    after = None if given.get("after") is None else JobId(int(given["after"]))
    page = list_jobs(_filter(given), after=after, limit=given.get("limit", 100))
    next_after = None if page.after is None else str(page.after)
    return {"jobs": list(map(job_body, page.jobs)), "after": next_after}


def heartbeat(given: Arguments) -> Answer:
    expires_at = extend_lease(
        **_lease(given), ttl_s=given.get("ttl", 60), progress=given.get("progress")
    )
    return {"expires_at": moment(expires_at)}


def complete(given: Arguments) -> Answer:
    lease, result = _lease(given), given.get("result", {})
    check_result(result, guild_id=browse.job_guild(lease["job_id"]))
    complete_job(**lease, result=result, audio_seconds=given.get("audio_seconds"))
    return {"state": JobState.DONE.value}


def fail(given: Arguments) -> Answer:
    state = fail_job(
        **_lease(given),
        error=given["error"],
        permanent=given.get("permanent", False),
        jitter=random.random(),  # noqa: S311 - it spreads retries
    )
    return {"state": state.value}


def release(given: Arguments) -> Answer:
    release_job(**_lease(given))
    return {"state": JobState.PENDING.value}


def move(given: Arguments) -> Answer:
    moved = SessionId(_id("session_id", given["session_id"]))
    place, neighbour = check_move(given["place"], moved=moved, neighbour=given.get("session"))
    outcome = move_session(
        moved,
        guild_id=browse.session_guild(moved),
        place=place,
        neighbour=neighbour,
        caller=account_caller(),
    )
    return decision_body(None, outcome.changed, outcome.order)


def bump_next(given: Arguments) -> Answer:
    return _lane(given, bump.bump_job, bump.bump_session)


def unbump_back(given: Arguments) -> Answer:
    return _lane(given, unbump.unbump_job, unbump.unbump_session)


def _lane(
    given: Arguments,
    of_job: Callable[..., LaneOutcome],
    of_session: Callable[..., LaneOutcome],
) -> Answer:
    if ("job_id" in given) == ("session_id" in given):
        raise InvalidInput("job_id", given.get("job_id"), "either job_id or session_id")
    asked: dict[str, Any] = {
        "guild_id": GuildId(_id("guild", given["guild"])),
        # Only as a source: an agent is never the operator, whoever runs it.
        "asker": replace(command_asker(given.get("source")), may_be_operator=False),
        "reason": given.get("reason", ""),
        "correlation_id": account_caller().correlation_id,
    }
    if "job_id" in given:
        outcome = of_job(JobId(_id("job_id", given["job_id"])), **asked)
    else:
        outcome = of_session(SessionId(_id("session_id", given["session_id"])), **asked)
    if not outcome.accepted:
        raise LaneRefused(outcome)
    return outcome.as_json()


def _filter(given: Arguments) -> JobFilter:
    """The filter among the arguments. Raises InvalidInput, or GuildNotFound for an unknown one."""
    fields = {name: value for name, value in given.items() if name in schemas.LIST_FILTER}
    wanted = parse_filter(fields)
    for guild_id in wanted.guilds:
        browse.guild_record(guild_id)
    return wanted


def _lease(given: Arguments) -> dict[str, Any]:
    job_id, token = JobId(_id("job_id", given["job_id"])), int(given["token"])
    if token > BIGINT_MAX:
        raise StaleLease(job_id, token)
    return {"job_id": job_id, "token": token, "principal": _principal()}


def _id(field: str, value: object) -> int:
    number = int(str(value))
    if number > BIGINT_MAX:
        raise InvalidInput(field, value, f"decimal digits, at most {BIGINT_MAX}")
    return number


def _principal() -> str:
    # The account, as on the command line: a server that is started anew goes on with its leases.
    return str(account_caller().principal)


_args = schemas.arguments
_LANE = {
    "guild": schemas.ID,
    "job_id": schemas.ID,
    "session_id": schemas.ID,
    "source": schemas.SOURCE,
    "reason": schemas.REASON,
}
TOOLS: Mapping[str, Tool] = {
    "ready": Tool(
        "What your next claims would take, in that very order. Takes nothing.",
        _args({**schemas.CLAIM_FILTER, "limit": schemas.limited(LIMIT_MOST, 50)}),
        ready,
    ),
    "claim": Tool(
        "Take up to `count` jobs, each under a lease of `ttl` seconds: send heartbeats, then end "
        "it. No job is no error. The same `request_id` gets the same leases again.",
        _args(
            {
                **schemas.CLAIM_FILTER,
                "count": schemas.limited(COUNT_MOST, 1),
                "ttl": schemas.TTL,
                "wait": {"type": "number", "minimum": 0, "maximum": 60, "default": 0},
                "request_id": {**schemas.TEXT, "minLength": 1, "maxLength": 200},
            }
        ),
        claim,
    ),
    "job_list": Tool(
        "Jobs in whatever state, by ascending id; `after` of a page gives the next one.",
        _args(
            {
                **schemas.LIST_FILTER,
                "after": {"anyOf": [schemas.ID, {"type": "null"}]},
                "limit": schemas.limited(LIMIT_MOST, 100),
            }
        ),
        job_list,
    ),
    "heartbeat": Tool(
        "Extend a lease to `ttl` seconds from now. Refused with `cancelled`: stop the work.",
        _args(
            {
                **schemas.LEASE,
                "ttl": schemas.TTL,
                "progress": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            },
            "job_id",
            "token",
        ),
        heartbeat,
    ),
    "complete": Tool(
        "End a job as done.",
        _args(
            {
                **schemas.LEASE,
                "result": {"type": "object"},
                "audio_seconds": {"type": ["number", "null"], "minimum": 0, "maximum": 1e9},
            },
            "job_id",
            "token",
        ),
        complete,
    ),
    "fail": Tool(
        "Say that a try failed: another one later, or dead where it is `permanent`.",
        _args(
            {
                **schemas.LEASE,
                "error": {"type": "string"},
                "permanent": {"type": "boolean", "default": False},
            },
            "job_id",
            "token",
            "error",
        ),
        fail,
    ),
    "release": Tool("Hand a job back untouched.", _args(schemas.LEASE, "job_id", "token"), release),
    "move": Tool(
        "Move a session within its guild's queue; `session` is the neighbour that `before` and "
        "`after` need.",
        _args(
            {"session_id": schemas.ID, "place": schemas.PLACE, "session": schemas.ID},
            "session_id",
            "place",
        ),
        move,
    ),
    "bump": Tool(
        "Let a job, or all of a session, run next, as a declared source. Every request is on "
        "record.",
        _args(_LANE, "guild"),
        bump_next,
    ),
    "unbump": Tool(
        "Take back that a job, or all of a session, runs next.", _args(_LANE, "guild"), unbump_back
    ),
}
