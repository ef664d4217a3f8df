"""What changes the order of the model's jobs: new ones, moves, the lane, requeues, cancels.

Each change is made and None given back, or nothing is changed and the refusal is given.
"""

from collections.abc import Collection, Iterable

from guildqueue.domain.errors import (
    InLane,
    NeighbourLeftQueue,
    NothingOutstanding,
    NothingToRequeue,
    QueueError,
    SessionLeftQueue,
)
from guildqueue.domain.ids import GuildId, JobId, SessionId
from tests.db.claim_model import ClaimModel, Job

Refusal = type[QueueError] | None


def number_at_the_end(model: ClaimModel, guild: GuildId) -> int:
    """The number of a new meeting: that of the last job in line, 0 at least."""
    line = [job for job in model.jobs.values() if job.guild == guild and job.is_outstanding]
    return max([0, *(job.priority for job in line if job.bump is None)])


def number_of(model: ClaimModel, session: SessionId) -> int:
    """The number that a job added to the session takes, as one that is requeued does."""
    jobs = model.of_session(session)
    outstanding = [job.priority for job in jobs if job.is_outstanding]
    return max(outstanding or [job.priority for job in jobs], default=0)


def outstanding_of(model: ClaimModel, session: SessionId) -> list[Job]:
    return [job for job in model.of_session(session) if job.is_outstanding]


# Moves


def keys_in_line(model: ClaimModel, guild: GuildId) -> dict[SessionId, tuple[int, int]]:
    """The sort key of each session that is not all in the lane, in the order of the keys."""
    keys: dict[SessionId, tuple[int, int]] = {}
    for job in model.jobs.values():
        if job.guild == guild and job.is_outstanding and job.bump is None:
            keys[job.session] = min(keys.get(job.session, job.sort_key), job.sort_key)
    return dict(sorted(keys.items(), key=lambda item: item[1]))


def move(model: ClaimModel, session: SessionId, place: str, neighbour: SessionId | None) -> Refusal:
    guild = model.sessions[session].guild
    keys = keys_in_line(model, guild)
    for named, left in ((session, SessionLeftQueue), (neighbour, NeighbourLeftQueue)):
        if named is not None and named not in keys:
            of_guild = model.sessions[named].guild == guild
            return InLane if of_guild and outstanding_of(model, named) else left
    wanted = [other for other in keys if other != session]
    places = {"first": 0, "last": len(wanted)}
    if neighbour is not None:
        places["before"] = wanted.index(neighbour)
        places["after"] = wanted.index(neighbour) + 1
    wanted.insert(places[place], session)
    before = (-(2**63), 0)
    for each in wanted:
        number, first_id = keys[each]
        while (number, first_id) <= before:
            number = before[0] if number < before[0] else number + 1
        before = (number, first_id)
        for job in outstanding_of(model, each):
            job.priority = number
    return None


# The lane


def unfinished_needs(model: ClaimModel, roots: Iterable[JobId]) -> set[JobId]:
    """The outstanding ones of the roots and all that they need, transitively."""
    found: set[JobId] = set()
    to_see = list(roots)
    while to_see:
        job = model.jobs[to_see.pop()]
        if job.is_outstanding and job.id not in found:
            found.add(job.id)
            to_see += job.needs
    return found


def bump(model: ClaimModel, targets: Collection[JobId]) -> bool:
    """Whether the request is admitted; targets that ended are let be."""
    live = [target for target in targets if model.jobs[target].is_outstanding]
    needed = {need for job_id in unfinished_needs(model, live) for need in model.jobs[job_id].needs}
    if any(model.jobs[need].state in {"dead", "cancelled"} for need in needed):
        return False
    for target in live:
        model.jobs[target].is_named = True
    derive_lane(model, targets)
    return True


def unbump(model: ClaimModel, targets: Collection[JobId]) -> bool:
    live = {target for target in targets if model.jobs[target].is_outstanding}
    others = [job.id for job in model.jobs.values() if job.is_named and job.id not in live]
    if not live or any(live & unfinished_needs(model, model.jobs[o].needs) for o in others):
        return False
    for target in live:
        model.jobs[target].is_named = False
    derive_lane(model, targets)
    return True


def derive_lane(model: ClaimModel, targets: Collection[JobId]) -> None:
    """The lane of the targets' guild is what is named and all that it needs; what enters does so
    needs first, and else in its order."""
    guild = model.jobs[next(iter(targets))].guild
    of_guild = [job for job in model.jobs.values() if job.guild == guild]
    derived = unfinished_needs(model, [job.id for job in of_guild if job.is_named])
    for job in of_guild:
        if job.id not in derived:
            job.bump = None
    entering = {job.id: job for job in of_guild if job.id in derived and job.bump is None}
    last = max((job.bump or 0 for job in model.jobs.values()), default=0)
    while entering:
        free = [job for job in entering.values() if not job.needs & entering.keys()]
        first = min(free, key=lambda job: job.sort_key)
        first.bump = last = last + 1
        del entering[first.id]


# Ends and new beginnings


def cancel(model: ClaimModel, jobs: Collection[Job]) -> Refusal:
    live = [job for job in jobs if job.is_outstanding]
    for job in live:
        job.leave("cancelled")
    return None if live else NothingOutstanding


def hold(model: ClaimModel, session: SessionId) -> Refusal:
    facts = model.sessions[session]
    if not facts.is_recording and not outstanding_of(model, session):
        return NothingOutstanding
    facts.is_held = True
    return None


def requeue_job(model: ClaimModel, job: Job) -> Refusal:
    if job.is_outstanding:
        return NothingToRequeue
    return _reopen(model, [job])


def requeue_session(model: ClaimModel, session: SessionId) -> Refusal:
    """The dead and cancelled jobs; all of them where everything is done."""
    jobs = model.of_session(session)
    failed = [job for job in jobs if job.state in {"dead", "cancelled"}]
    if not failed and not any(job.is_outstanding for job in jobs):
        failed = jobs
    return _reopen(model, failed) if failed else NothingToRequeue


def await_track(model: ClaimModel, session: SessionId, track: JobId) -> bool:
    """Whether the session has a document, which then waits for the track and is done again."""
    documents = [job for job in model.of_session(session) if job.kind == "document"]
    if not documents:
        return False
    if documents[-1].state != "pending":
        _reopen(model, documents[-1:])
    documents[-1].needs |= {track}
    return True


def _reopen(model: ClaimModel, targets: Collection[Job]) -> Refusal:
    """The targets and, transitively, what was built on them: what ended or runs is done again."""
    again = {job.id: job for job in targets}
    to_see = list(targets)
    while to_see:
        needed = to_see.pop().id
        for job in model.jobs.values():
            if needed in job.needs and job.state != "pending" and job.id not in again:
                again[job.id] = job
                to_see.append(job)
    numbers = {job.id: number_of(model, job.session) for job in again.values()}
    for job in again.values():
        job.leave("pending")
        job.priority, job.attempt, job.is_deferred = numbers[job.id], 0, False
    return None
