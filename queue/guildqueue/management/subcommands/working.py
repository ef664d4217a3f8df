"""``queue ready``, ``claim``, ``jobs`` and ``depth``: work, by one filter."""

from argparse import ArgumentTypeError
from functools import partial
from typing import Any

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Job, Lease
from guildqueue.domain.wire import job_body, lease_body, moment
from guildqueue.management.account import account_caller
from guildqueue.management.arguments import Options, add_subcommand, identifier
from guildqueue.management.filtering import add_filter, chosen_filter
from guildqueue.management.output import Output
from guildqueue.management.waiting import WAIT_MOST_S, claimed_within
from guildqueue.services.claim import claim_jobs
from guildqueue.services.depth import depth_query, queue_depth
from guildqueue.services.list_jobs import list_jobs
from guildqueue.services.ready import ready_jobs

_JOBS = ("job", "guild", "session", "kind", "state", "number", "attempt", "name")
_LEASES = ("job", "guild", "session", "kind", "token", "until", "name")


def add_subcommands(subparsers: Any) -> None:
    ready = add_subcommand(
        subparsers, "ready", run_ready, about="What your next claims would take, in their order."
    )
    add_filter(ready)
    ready.add_argument("--limit", type=int, default=50, metavar="N", help="at most so many (50)")
    claim = add_subcommand(subparsers, "claim", run_claim, about="Take jobs, each with a lease.")
    add_filter(claim)
    claim.add_argument("--count", type=int, default=1, metavar="N", help="up to so many (1)")
    claim.add_argument(
        "--ttl", type=float, default=60.0, metavar="SECONDS", help="how long a lease holds (60)"
    )
    claim.add_argument(
        "--wait", type=_wait, default=0.0, metavar="SECONDS", help="wait so long for the first (0)"
    )
    claim.add_argument("--request-id", metavar="ID", help="the same again gets the same leases")
    jobs = add_subcommand(subparsers, "jobs", run_jobs, about="Jobs of any state, by id.")
    add_filter(jobs, is_list=True)
    jobs.add_argument("--after", type=identifier, metavar="JOB", help="go on behind this job")
    jobs.add_argument("--limit", type=int, default=100, metavar="N", help="at most so many (100)")
    depth = add_subcommand(
        subparsers, "depth", run_depth, about="How many jobs are claimable, by kind."
    )
    add_filter(depth)
    depth.add_argument(
        "--sql", action="store_true", help="print the query that a scaler should ask instead"
    )


def _wait(text: str) -> float:
    try:
        wait_s = float(text)
    except ValueError:
        wait_s = -1.0
    if not 0 <= wait_s <= WAIT_MOST_S:
        raise ArgumentTypeError(f"{text[:40]!r} is not a number of seconds up to {WAIT_MOST_S:g}")
    return wait_s


def run_ready(out: Output, options: Options) -> None:
    page = ready_jobs(_principal(), filter=chosen_filter(options), limit=options["limit"])
    body = {"jobs": [job_body(job) for job in page.jobs], "held_count": page.held_count}
    out.table(body, _JOBS, map(_job_row, page.jobs))
    if not page.jobs and not out.as_json:
        kept = f"; holds keep {page.held_count} jobs back" if page.held_count else ""
        out.tell(None, f"nothing is ready{kept}")


def run_claim(out: Output, options: Options) -> None:
    claim = partial(
        claim_jobs,
        _principal(),
        filter=chosen_filter(options),
        count=options["count"],
        ttl_s=options["ttl"],
        request_id=options["request_id"],
    )
    leases = claimed_within(options["wait"], claim)
    body = {"leases": [lease_body(lease) for lease in leases]}
    out.table(body, _LEASES, map(_lease_row, leases))


def run_jobs(out: Output, options: Options) -> None:
    after = options["after"]
    page = list_jobs(
        chosen_filter(options), after=JobId(after) if after else None, limit=options["limit"]
    )
    more = str(page.after) if page.after else None
    out.table(
        {"jobs": [job_body(job) for job in page.jobs], "after": more},
        _JOBS,
        map(_job_row, page.jobs),
    )
    if more and not out.as_json:
        out.tell(None, f"more: --after {more}")


def run_depth(out: Output, options: Options) -> None:
    if options["sql"]:
        query = depth_query(chosen_filter(options))
        if out.as_json:
            out.tell({"query": query})
        else:
            # As it is: a label in it may hold what `tell` would make one blank.
            out.stdout.write(query)
        return
    depth = queue_depth(chosen_filter(options))
    total = sum(depth.values())
    lines = [f"{kind}: {n}" for kind, n in depth.items()]
    out.tell({"kinds": dict(depth), "total": total}, *lines, f"total: {total}")


def _principal() -> str:
    # The account, not the process: whose turn it is has to hold from one call to the next.
    return str(account_caller().principal)


def _job_row(job: Job) -> tuple[object, ...]:
    place = "next" if job.bump_seq is not None else job.priority
    return (job.id, job.guild_id, job.session_id, job.kind, job.state, place, job.attempt, job.name)


def _lease_row(lease: Lease) -> tuple[object, ...]:
    job = lease.job
    until = moment(lease.expires_at)
    return (job.id, job.guild_id, job.session_id, job.kind, lease.token, until, job.name)
