"""The queue page and the snapshot behind it: queries and server time."""

import statistics
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from benchmarks.fill import fill_guild, milliseconds, spread
from guildqueue.domain.ids import GuildId
from guildqueue.services.membership import add_administrator
from guildqueue.services.snapshot import queue_snapshot

ROUNDS = 25


def run() -> None:
    """The page of 200 sessions, and the snapshot at 1,000 sessions of 5 jobs."""
    page_guild, snapshot_guild = GuildId(200), GuildId(1_005)
    fill_guild(page_guild, n_sessions=200, n_jobs=5)
    fill_guild(snapshot_guild, n_sessions=1_000, n_jobs=5)
    user = get_user_model().objects.create_user("bench")
    add_administrator("bench", guild_id=page_guild)
    print("\nThe queue page; milliseconds, median (range)")
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    address = f"/guilds/{page_guild}/"
    queries: list[str] = []

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        response = client.get(address)
    if response.status_code != 200:
        raise SystemExit(f"{address} answered {response.status_code}")
    times = [milliseconds(lambda: client.get(address)) for _ in range(ROUNDS)]
    print(
        f"page, 200 sessions x 5: {len(queries)} queries, {len(response.content)} bytes,"
        f" server time {spread(times)}"
    )
    queue_snapshot(snapshot_guild)
    times = [milliseconds(lambda: queue_snapshot(snapshot_guild)) for _ in range(ROUNDS)]
    print(f"snapshot, 1,000 sessions x 5: {spread(times)}; mean {statistics.mean(times):.1f}")
