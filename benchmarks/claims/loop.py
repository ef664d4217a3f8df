"""A process that claims and completes through the services, with nothing between.

``python -m benchmarks.claims.loop [--enqueue|--turnover] COUNT [N_JOBS]``: claims of COUNT jobs
until it is ended or N_JOBS are done. With --enqueue as many are enqueued, one at a time, before
each claim; with --turnover a claim completes what the one before it gave.
"""

import os
import signal
import sys
from collections.abc import Iterator

import django

from benchmarks.claims.counters import count as note

PRINCIPAL = f"loop-{os.getpid()}"
TTL_S = 60.0


def main(words: list[str]) -> None:
    numbers = [int(word) for word in words if word.isdecimal()]
    count, n_jobs = numbers[0], numbers[1] if numbers[1:] else None
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    turns = turnovers(count) if "--turnover" in words else claims(count, "--enqueue" in words)
    done = 0
    while not stopped and (n_jobs is None or done < n_jobs):
        done += next(turns)


def claims(count: int, is_enqueuing: bool) -> Iterator[int]:
    """A claim, then a completion for each job: how many jobs each turn did."""
    # Only now, as Django has to be set up first; and below.
    from benchmarks.claims.feed import Feed  # noqa: PLC0415
    from guildqueue.services.claim import claim_jobs  # noqa: PLC0415
    from guildqueue.services.complete import complete_job  # noqa: PLC0415

    feed = Feed()
    while True:
        for _ in range(count if is_enqueuing else 0):
            feed.enqueue(1)
        leases = claim_jobs(PRINCIPAL, count=count, ttl_s=TTL_S)
        for lease in leases:
            note()
            complete_job(lease.job.id, token=lease.token, principal=PRINCIPAL, result={})
        yield len(leases)


def turnovers(count: int) -> Iterator[int]:
    """What was claimed last is completed in the transaction that claims the next."""
    from guildqueue.domain.filters import JobFilter  # noqa: PLC0415
    from guildqueue.domain.job import Completion  # noqa: PLC0415
    from guildqueue.services.claim import claim_jobs  # noqa: PLC0415
    from guildqueue.services.complete import complete_and_claim  # noqa: PLC0415

    leases = claim_jobs(PRINCIPAL, count=count, ttl_s=TTL_S)
    while True:
        for _ in leases:
            note()
        done = [Completion(lease.job.id, lease.token, {}, None) for lease in leases]
        turned = complete_and_claim(PRINCIPAL, done, filter=JobFilter(), count=count, ttl_s=TTL_S)
        leases = turned.leases or claim_jobs(PRINCIPAL, count=count, ttl_s=TTL_S)
        yield len(done)


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1:])
