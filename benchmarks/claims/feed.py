"""A process that enqueues through our service: as many jobs as each line says, or one a line."""

import itertools
import sys

import django

from benchmarks.claims.told import enqueue_when_told

GUILDS_AT_ONCE = 10


class Feed:
    """Enqueues into the guilds' sessions made for it, guild after guild."""

    def __init__(self) -> None:
        from django.db import connection  # noqa: PLC0415  after Django is set up

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT guild_id, id FROM guildqueue_session WHERE title = 'fed' ORDER BY guild_id"
            )
            self._sessions = cursor.fetchall()
        self._turns = itertools.cycle(self._sessions)

    def enqueue(self, n: int) -> None:
        """``n`` jobs for the guild whose turn it is."""
        from guildqueue.domain.ids import GuildId, SessionId  # noqa: PLC0415
        from guildqueue.domain.new_job import NewJob  # noqa: PLC0415
        from guildqueue.services.enqueue import enqueue_jobs  # noqa: PLC0415

        guild_id, session_id = next(self._turns)
        job = NewJob(session_id=SessionId(session_id), kind="transcribe")
        enqueue_jobs(GuildId(guild_id), jobs=[job] * n)

    def spread(self, n: int) -> None:
        """``n`` jobs, over some of the guilds."""
        guilds = min(len(self._sessions), GUILDS_AT_ONCE)
        for turn in range(guilds):
            self.enqueue(n // guilds + (turn < n % guilds))


def main(words: list[str]) -> None:
    feed = Feed()
    if "--one" in words:
        enqueue_when_told(lambda: feed.enqueue(1))
        return
    print("ready", flush=True)
    for line in sys.stdin:
        feed.spread(int(line))
        print("done", flush=True)


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1:])
