"""A worker that trusts nobody's advice: it claims by the services and writes late on purpose.

Started as ``python -m tests.chaos.claimer NAME PRINCIPAL SEED FOLDER``. It leaves when asked to
by SIGTERM, and otherwise never.
"""

import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path

import django
from django.db import connections

from guildqueue.domain.errors import LEASE_LOST, QueueBusy
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import Kind, Lease
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.release import release_job
from guildqueue.worker.outage import AWAY
from tests.chaos.diary import Answer, Diary, Write
from tests.chaos.plan import LEASE_S

FILTERS = (
    *[JobFilter()] * 4,
    JobFilter(kinds=frozenset({Kind.DOCUMENT.value})),
    JobFilter(guilds=frozenset({GuildId(1), GuildId(2), GuildId(3)})),
)
POLL_S = 0.05
Service = Callable[..., object]


class Claimer:
    """``principal`` is shared with another process, and taken over from one that was killed."""

    def __init__(self, name: str, principal: str, seed: int, folder: Path) -> None:
        self.name = name
        self.principal = principal
        self.chance = random.Random(seed)
        self.diary = Diary(folder, name)
        self.numbers = count()
        self.is_stopping = False
        signal.signal(signal.SIGTERM, self._stop)

    def run(self) -> None:
        while not self.is_stopping:
            leases = self.claim()
            for lease in leases:
                self.work(lease)
            if not leases:
                time.sleep(POLL_S)

    def claim(self) -> list[Lease]:
        """What was given; asked for again by its request id if the answer got lost."""
        asks_again = self.chance.random() < 0.3
        ask = partial(
            claim_jobs,
            self.principal,
            filter=self.chance.choice(FILTERS),
            count=self.chance.choice([1, 1, 2, 5]),
            ttl_s=LEASE_S,
            request_id=f"{self.name}/{next(self.numbers)}" if asks_again else None,
        )
        while not self.is_stopping:
            try:
                leases = ask()
            except AWAY as error:
                self._wait_out(error)
                if not asks_again:
                    return []
            else:
                self._note(leases)
                return leases
        return []

    def work(self, lease: Lease) -> None:
        match lease.job.payload.get("uri"):
            case "fails" if lease.token <= 2:
                self.write(lease, Write.FAIL, self._fail())
            case "hopeless":
                self.write(lease, Write.FAIL, self._fail(permanent=True))
            case "returns" if lease.token == 1:
                self.write(lease, Write.RELEASE, release_job)
            case "dull" if lease.token == 1:
                # When it wakes somebody else is at the job, and it goes on all the same.
                self._beat_after(lease, LEASE_S * 1.6)
                self._end_somehow(lease)
            case "slow" | "dull":
                for _ in range(4):
                    self._beat_after(lease, LEASE_S / 3)
                self._complete(lease)
            case _:
                time.sleep(self.chance.uniform(0, 0.005))
                self._complete(lease)

    def write(self, lease: Lease, write: Write, service: Service) -> None:
        """Write until the queue says yes or no."""
        while True:
            self.diary.tries(write, lease.job.id, lease.token)
            try:
                given = service(lease.job.id, token=lease.token, principal=self.principal)
            except LEASE_LOST as refusal:
                self.diary.answered(Answer.REFUSED, reason=type(refusal).__name__)
                return
            except AWAY as error:
                self.diary.answered(Answer.UNKNOWN, reason=type(error).__name__)
                self._wait_out(error)
            else:
                until = given.timestamp() if isinstance(given, datetime) else None
                self.diary.answered(Answer.ACCEPTED, until=until)
                return

    def _beat_after(self, lease: Lease, nap_s: float) -> None:
        time.sleep(nap_s)
        self.write(lease, Write.BEAT, partial(extend_lease, ttl_s=LEASE_S))

    def _end_somehow(self, lease: Lease) -> None:
        match lease.job.id % 3:
            case 0:
                self.write(lease, Write.FAIL, self._fail())
            case 1:
                self.write(lease, Write.RELEASE, release_job)
            case _:
                self._complete(lease)

    def _complete(self, lease: Lease) -> None:
        result = {"by": self.name, "token": lease.token}
        self.write(lease, Write.COMPLETE, partial(complete_job, result=result))

    def _fail(self, *, permanent: bool = False) -> Service:
        jitter = self.chance.random()
        return partial(fail_job, error="it had to", permanent=permanent, jitter=jitter)

    def _note(self, leases: list[Lease]) -> None:
        for lease in leases:
            started_at = lease.job.started_at
            self.diary.claimed(
                lease.job.id,
                lease.token,
                at=started_at.timestamp() if started_at else None,
                until=lease.expires_at.timestamp(),
            )

    def _wait_out(self, error: Exception) -> None:
        if isinstance(error, QueueBusy):
            raise error  # two conflicts in a row: the locks are not taken in one order
        connections.close_all()
        time.sleep(self.chance.uniform(0.02, 0.2))

    def _stop(self, *_: object) -> None:
        self.is_stopping = True


if __name__ == "__main__":
    django.setup()
    Claimer(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])).run()
