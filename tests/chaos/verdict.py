"""The promises of claims, each judged by what the processes and the database said of a run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.chaos.diary import Answer, Claimed, Told, Write, Written
from tests.chaos.facts import Facts, JobFact
from tests.chaos.watch import Kept

ENDED = {"done", "dead", "cancelled"}
ENDINGS = {Write.COMPLETE, Write.FAIL, Write.RELEASE}
SHOWN = 5  # of each kind


@dataclass(frozen=True, slots=True)
class Seen:
    """A run that is over. ``n_jobs`` were put in; ``caps`` are by guild."""

    n_jobs: int
    told: Told
    facts: Facts
    caps: Mapping[int, Kept]
    server_log: str
    died: Sequence[str]


def violations(seen: Seen) -> dict[str, list[str]]:
    """What breaks each promise, the first few of it; those that were kept are not there."""
    found = {promise: list(judge(seen)) for promise, judge in PROMISES.items()}
    return {promise: _first(broken) for promise, broken in found.items() if broken}


def _first(broken: list[str]) -> list[str]:
    n_more = len(broken) - SHOWN
    return [*broken[:SHOWN], f"and {n_more} more"] if n_more > 0 else broken


def successors(claims: Sequence[Claimed]) -> dict[tuple[int, int], Claimed]:
    """The next claim that is known of a job, by job and token; a handler's has no moment."""
    by_job: dict[int, list[Claimed]] = defaultdict(list)
    for claim in claims:
        by_job[claim.job].append(claim)
    following = {}
    for of_job in by_job.values():
        of_job.sort(key=lambda claim: claim.token)
        for claim in of_job:
            later = [other for other in of_job if other.token > claim.token]
            if later:
                following[claim.job, claim.token] = later[0]
    return following


def late_writes(told: Told) -> list[Written]:
    """The writes that were begun when the job was known to be somebody else's."""
    following = successors(told.claims)
    return [write for write in told.writes if _is_late(write, following)]


def _is_late(write: Written, following: Mapping[tuple[int, int], Claimed]) -> bool:
    if write.token is None or write.tried_at is None:
        return False
    later = following.get((write.job, write.token))
    return later is not None and later.at is not None and later.at < write.tried_at


def _lost(seen: Seen) -> Iterator[str]:
    jobs = seen.facts.jobs
    if len(jobs) != seen.n_jobs:
        yield f"{len(jobs)} jobs are stored of {seen.n_jobs}"
    for job in jobs.values():
        if job.state not in ENDED:
            yield f"job {job.id} is {job.state}, attempt {job.attempt}, unmet {job.unmet}"
    for write in seen.told.writes:
        if write.reason == "JobNotFound":
            yield f"job {write.job} was not found by {write.who}"


def _ends(seen: Seen) -> Iterator[str]:
    n_ends = Counter(job_id for job_id, _, _ in seen.facts.endings)
    for job in seen.facts.jobs.values():
        if job.state in ENDED and n_ends[job.id] != 1:
            ways = [f"{was} to {now}" for j, was, now in seen.facts.endings if j == job.id]
            yield f"job {job.id} ended {n_ends[job.id]} times: {ways}"
    accepted = [w for w in seen.told.writes if w.write is Write.COMPLETE and _is_accepted(w)]
    for job_id, n_accepted in Counter(write.job for write in accepted).items():
        if n_accepted > 1:
            yield f"job {job_id} was completed {n_accepted} times"
    for write in accepted:
        job = seen.facts.jobs[write.job]
        if job.state != "done" or (write.token and job.done_under != write.token):
            yield f"{write.who} completed job {write.job} (token {write.token}), now {job}"


def _results(seen: Seen) -> Iterator[str]:
    """Each result is of a claimer that may have been told yes, or of a handler that ran."""
    completes = defaultdict(list)
    for write in seen.told.writes:
        if write.write is Write.COMPLETE:
            completes[write.who, write.job, write.token].append(write.answer)
    runs = {(claim.who, claim.job, claim.token) for claim in seen.told.claims}
    for job in seen.facts.jobs.values():
        if job.state != "done":
            continue
        by = (str(job.done_by), job.id, job.done_under)
        answers = completes.get(by, [])
        is_theirs = by in runs if by[0].startswith("handler") else set(answers) != {Answer.REFUSED}
        if job.done_under != job.token or not is_theirs or not (answers or by in runs):
            yield f"the result of job {job.id} (token {job.token}) is {by}, told {answers}"


def _deaths(seen: Seen) -> Iterator[str]:
    for job in seen.facts.jobs.values():
        if job.state != "dead" or job.temper == "hopeless" or job.attempt >= job.max_attempts:
            continue
        yield f"job {job.id} ({job.temper}) died at attempt {job.attempt}: {job.error}"


def _leases(seen: Seen) -> Iterator[str]:
    """One process a lease, and none is taken from who may still have it."""
    holders = defaultdict(set)
    until: dict[tuple[int, int], float] = {}
    for claim in seen.told.claims:
        holders[claim.job, claim.token].add(claim.who)
        until[claim.job, claim.token] = claim.until or 0
    for (job_id, token), names in holders.items():
        if len(names) > 1:
            yield f"job {job_id} was leased under token {token} to {sorted(names)}"
    handed_back = set()
    for write in seen.told.writes:
        key = (write.job, write.token or 0)
        if write.write in ENDINGS and write.answer is not Answer.REFUSED:
            handed_back.add(key)
        until[key] = max(until.get(key, 0), write.until or 0)
    for (job_id, token), later in successors(seen.told.claims).items():
        ended_at = until[job_id, token]
        if (job_id, token) not in handed_back and later.at and later.at < ended_at:
            early_s = ended_at - later.at
            yield f"the lease {token} of job {job_id} was taken {early_s:.3f} s before its end"


def _late(seen: Seen) -> Iterator[str]:
    for write in late_writes(seen.told):
        if _is_accepted(write):
            yield f"late {write.write} of job {write.job}, token {write.token}, by {write.who}"


def _refusals(seen: Seen) -> Iterator[str]:
    """A refusal has a reason: the job was somebody else's, or had ended."""
    following = successors(seen.told.claims)
    unsure: set[tuple[str, int, int | None]] = set()
    for write in seen.told.writes:
        who = (write.who, write.job, write.token)
        if write.answer is Answer.UNKNOWN:
            unsure.add(who)
        if write.answer is not Answer.REFUSED or write.token is None or who in unsure:
            continue
        job, later = seen.facts.jobs[write.job], following.get((write.job, write.token))
        if not _is_justified(write, job, later):
            yield f"{write.write} of job {write.job} by {write.who}: {write.reason}, but {job}"


def _is_justified(write: Written, job: JobFact, later: Claimed | None) -> bool:
    if write.reason == "LeaseCancelled":
        return job.state == "cancelled"
    if job.token == write.token:
        return "was lost at attempt" in (job.error or "")
    if later is None or later.at is None or write.answered_at is None:
        return True
    return later.at <= write.answered_at


def _times(seen: Seen) -> Iterator[str]:
    for job_id in seen.facts.too_early:
        yield f"job {job_id} began before what it needs was done"
    for claim in seen.told.claims:
        not_before = seen.facts.jobs[claim.job].not_before
        if claim.at and not_before and claim.at < not_before:
            yield f"job {claim.job} began {not_before - claim.at:.3f} s too early"


def _caps(seen: Seen) -> Iterator[str]:
    for guild_id, kept in seen.caps.items():
        if kept.most_running > kept.cap:
            yield f"guild {guild_id}: {kept}"


def _counts(seen: Seen) -> Iterator[str]:
    for guild_id, state in seen.facts.wrong_counters:
        yield f"guild {guild_id} miscounts what is {state}"
    for job in seen.facts.jobs.values():
        if job.unmet:
            yield f"job {job.id} still needs {job.unmet}"


def _ledger(seen: Seen) -> Iterator[str]:
    """Work leaves the record alone; cancels are in it, each once."""
    cancelled = sorted(job.id for job in seen.facts.jobs.values() if job.state == "cancelled")
    recorded = sorted(job_id for _, job_id in seen.facts.ledger)
    kinds = {kind for kind, _ in seen.facts.ledger}
    if recorded != cancelled or kinds - {"Cancelled"}:
        yield f"the record has {kinds} of {recorded}; cancelled are {cancelled}"


def _server(seen: Seen) -> Iterator[str]:
    for line in seen.server_log.splitlines():
        if "deadlock detected" in line or "PANIC:" in line or "ERROR:" in line:
            yield line


def _processes(seen: Seen) -> Iterator[str]:
    yield from seen.died


def _is_accepted(write: Written) -> bool:
    return write.answer is Answer.ACCEPTED


PROMISES: Mapping[str, Callable[[Seen], Iterator[str]]] = {
    "no job is lost": _lost,
    "every job ends exactly once": _ends,
    "every result is of the lease that ended the job": _results,
    "a job dies for a reason": _deaths,
    "a lease has one holder until it ends": _leases,
    "every late write is refused": _late,
    "no other write is refused": _refusals,
    "nothing begins before it may": _times,
    "no cap is exceeded": _caps,
    "counters and needs are right": _counts,
    "the record holds the cancels alone": _ledger,
    "no deadlock and no error": _server,
    "nobody dies of it": _processes,
}
