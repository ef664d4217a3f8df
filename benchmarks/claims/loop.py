"""A process that claims and completes through the services, with nothing between.

``python -m benchmarks.claims.loop [--enqueue] COUNT [N_JOBS]``: claims of COUNT jobs, until it is
ended or N_JOBS are done; with --enqueue as many are enqueued, one at a time, before each claim.
"""

import os
import signal
import sys

import django

from benchmarks.claims.counters import count as note


def main(count: int, n_jobs: int | None, *, is_enqueuing: bool) -> None:
    # Only now, as Django has to be set up first.
    from benchmarks.claims.feed import Feed  # noqa: PLC0415
    from guildqueue.services.claim import claim_jobs  # noqa: PLC0415
    from guildqueue.services.complete import complete_job  # noqa: PLC0415

    principal = f"loop-{os.getpid()}"
    feed = Feed()
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    done = 0
    while not stopped and (n_jobs is None or done < n_jobs):
        for _ in range(count if is_enqueuing else 0):
            feed.enqueue(1)
        leases = claim_jobs(principal, count=count, ttl_s=60)
        for lease in leases:
            note()
            complete_job(lease.job.id, token=lease.token, principal=principal, result={})
        done += len(leases)


if __name__ == "__main__":
    django.setup()
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    main(
        numbers[0],
        numbers[1] if numbers[1:] else None,
        is_enqueuing="--enqueue" in sys.argv,
    )
