"""A process that times single claims and completions: ``python -m benchmarks.claims.timed N``.

Prints JSON: the milliseconds of each, in order, and the buffers that a claim and its completion
read together, which no noise of the machine changes.
"""

import json
import os
import sys
import time

import django

WARM = 30  # statements are prepared at their sixth use


def main(n: int) -> None:
    from guildqueue.services.claim import claim_jobs  # noqa: PLC0415  after Django is set up
    from guildqueue.services.complete import complete_job  # noqa: PLC0415

    principal = f"timed-{os.getpid()}"
    claims: list[float] = []
    completions: list[float] = []
    buffers = 0
    for turn in range(WARM + n):
        if turn == WARM:
            buffers = _buffers()
        begun = time.perf_counter()
        (lease,) = claim_jobs(principal, ttl_s=60)
        claimed = time.perf_counter()
        complete_job(lease.job.id, token=lease.token, principal=principal, result={})
        completions.append(1000 * (time.perf_counter() - claimed))
        claims.append(1000 * (claimed - begun))
    a_job = (_buffers() - buffers) / n
    took = {"claims": claims[WARM:], "completions": completions[WARM:], "buffers": a_job}
    print(json.dumps(took))


def _buffers() -> int:
    """What was read of the database so far, by this connection and by whoever else there is."""
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"
        )
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    django.setup()
    main(int(sys.argv[1]))
