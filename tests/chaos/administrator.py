"""Somebody who cancels jobs that run, beside everything else."""

import time
from threading import Event, Thread

from django.db import connection, connections

from guildqueue.domain.errors import NothingOutstanding
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.cancel import cancel_job
from guildqueue.worker.outage import AWAY

CANCELLABLE = """
SELECT id, guild_id FROM guildqueue_job AS job
 WHERE state = 'running'
   AND NOT EXISTS (SELECT FROM guildqueue_job_dependency WHERE needs_id = job.id)
 ORDER BY random() LIMIT 1
"""
ADA = Caller(principal=Principal(PrincipalKind.USER, "ada"))


class Administrator(Thread):
    """A thread of its own, as a cancel waits for whoever was stopped while it held the job."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.n_asked = self.n_cancelled = 0
        self._done = Event()

    def run(self) -> None:
        while not self._done.is_set():
            if self.n_cancelled == self.n_asked or not self._cancel():
                self._done.wait(0.01)
        connections.close_all()

    def stop(self) -> None:
        self._done.set()
        self.join()

    def _cancel(self) -> bool:
        """True if a job that ran is cancelled by this; one that nothing needs."""
        try:
            with connection.cursor() as cursor:
                cursor.execute(CANCELLABLE)
                found = cursor.fetchone()
            if found is None:
                return False
            cancel_job(JobId(found[0]), guild_id=GuildId(found[1]), caller=ADA)
        except NothingOutstanding:
            return False
        except AWAY:
            connections.close_all()
            time.sleep(0.1)
            return False
        self.n_cancelled += 1
        return True
