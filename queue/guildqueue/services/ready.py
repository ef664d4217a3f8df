"""Ready: what the next claims would take, in their very order, and nothing taken."""

from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

from django.conf import settings

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Job, JobState
from guildqueue.domain.turns import InLine, Slots, claims_in_order, claims_in_turns
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import claims, cursors, ready
from guildqueue.store.ready import Line
from guildqueue.store.scopes import ClaimScope, claim_scope

LIMIT_MOST = 1000
EVERYTHING = JobFilter()


class ReadyPage(NamedTuple):
    """``held_count`` is how many would be there but for a hold; counted for an empty page alone."""

    jobs: tuple[Job, ...]
    held_count: int


@decided_in_transaction
def ready_jobs(
    principal: str,
    *,
    filter: JobFilter = EVERYTHING,  # noqa: A002  the word of every front end
    limit: int = 50,
) -> ReadyPage:
    """The first ``limit`` jobs in the order in which ``principal`` would be given them.

    They go only as far as free slots do, as a claim would. Reads whose turn it is and writes
    nothing. Raises InvalidInput.
    """
    if not 1 <= limit <= LIMIT_MOST:
        raise InvalidInput("limit", limit, f"a number from 1 to {LIMIT_MOST}")
    scope = claim_scope(filter.for_claim(), default_cap=settings.QUEUE_RUNNING_CAP, buries=True)
    claims.pin_plans()
    if settings.QUEUE_CLAIM_ORDER == "turns":
        last = cursors.read_cursor(principal, filter.scope_hash())
        page = _in_turns(scope, last, limit)
    else:
        line = ready.read_all(scope, limit=limit)
        order = claims_in_order(map(_in_line, line.jobs), Slots(line.slots))
        page = _page(order, line, limit)
    return ReadyPage(page, 0 if page else ready.count_held(scope))


def _in_turns(scope: ClaimScope, last: GuildId | None, limit: int) -> tuple[Job, ...]:
    lane = ready.read_lane(scope, limit=limit)
    turns = ready.read_turns(scope, last=last, limit=limit)
    both = Line(lane.jobs + turns.jobs, lane.slots | turns.slots)
    slots = Slots(both.slots)

    def order() -> Iterator[InLine]:
        yield from claims_in_order(map(_in_line, lane.jobs), slots)
        yield from claims_in_turns(_by_guild(turns), slots, last=last)

    return _page(order(), both, limit)


def _by_guild(line: Line) -> Mapping[GuildId, list[InLine]]:
    # Sorting is stable: within a guild the jobs stay in claim order.
    jobs = sorted(map(_in_line, line.jobs), key=attrgetter("guild_id"))
    return {guild_id: list(of) for guild_id, of in groupby(jobs, key=attrgetter("guild_id"))}


def _in_line(job: Job) -> InLine:
    return InLine(job.id, job.guild_id, is_lost=job.state == JobState.RUNNING)


def _page(order: Iterator[InLine], line: Line, limit: int) -> tuple[Job, ...]:
    jobs: dict[JobId, Job] = {job.id: job for job in line.jobs}
    return tuple(jobs[taken.job_id] for taken in islice(order, limit))
