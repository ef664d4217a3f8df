"""What a worker's own process runs in the client's tests: ``python -m … URL TOKEN``."""

import sys
import time

from guildqueue.client import Client


def main(url: str, token: str) -> None:
    for lease in Client(url, token).leases(wait_s=0):
        print("at work on", lease.job["job_id"], flush=True)  # noqa: T201
        time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
