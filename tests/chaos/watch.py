"""What a run looks like from outside, all the time: caps kept, jobs left."""

import time
from dataclasses import dataclass
from threading import Event, Thread

import psycopg

CAP_EVERY_S = 0.005
COUNT_EVERY_S = 0.1
AWAY = (psycopg.OperationalError, psycopg.InterfaceError)

# Leases count, expired or not: a lost one keeps its slot. One statement is one snapshot.
RUNNING = """
SELECT guild.id, guild.running_cap, count(job.id)
  FROM guildqueue_guild AS guild
  LEFT JOIN guildqueue_job AS job ON job.guild_id = guild.id AND job.state = 'running'
 WHERE guild.running_cap IS NOT NULL
 GROUP BY guild.id
"""
OUTSTANDING = "SELECT count(*) FROM guildqueue_job WHERE state IN ('pending', 'running')"


@dataclass(slots=True)
class Kept:
    """A guild's cap, and the most that were seen to run at once."""

    cap: int
    most_running: int = 0


class Watch(Thread):
    """Looks until it is told to stop; an answer that a restart cost is asked for again."""

    def __init__(self, url: str, n_jobs: int) -> None:
        super().__init__(daemon=True)
        self.n_jobs = self.n_outstanding = n_jobs
        self.n_looks = 0
        self.caps: dict[int, Kept] = {}
        self._url = url
        self._done = Event()

    @property
    def ended_share(self) -> float:
        """How much of the work has ended, from 0.0 to 1.0."""
        return 1 - self.n_outstanding / self.n_jobs

    def run(self) -> None:
        while not self._done.is_set():
            try:
                with psycopg.connect(self._url, autocommit=True) as connection:
                    self._look(connection)
            except AWAY:
                self._done.wait(0.05)

    def stop(self) -> None:
        self._done.set()
        self.join()

    def _look(self, connection: psycopg.Connection) -> None:
        count_at = 0.0
        while not self._done.wait(CAP_EVERY_S):
            for guild_id, cap, n_running in connection.execute(RUNNING):
                kept = self.caps.setdefault(guild_id, Kept(cap))
                kept.most_running = max(kept.most_running, n_running)
            self.n_looks += 1
            if time.monotonic() >= count_at:
                found = connection.execute(OUTSTANDING).fetchone()
                self.n_outstanding = int(found[0]) if found else self.n_outstanding
                count_at = time.monotonic() + COUNT_EVERY_S
