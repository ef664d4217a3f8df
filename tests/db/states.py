"""Guilds at random: jobs in every state that there is, some guilds full, some held."""

import random
from typing import Any

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.services.hold import hold_guild
from guildqueue.services.register_guild import register_guild
from tests.builders import MAGPIE, STARLING, caller, stored_guild, stored_session
from tests.db.races import query
from tests.db.stored import put_in_lane, write

ROOK = GuildId(118000000000000003)
STATES = (
    "held = true",
    "run_after = now() + interval '1 hour'",
    "run_after = now() - interval '1 minute'",
    "run_after = now() - interval '2 minutes'",
    "unmet = 1",
    "priority = -2",
    "priority = 7",
    "labels = '{gpu}'",
    "assignee_kind = 'agent'",
    "state = 'running', lease_by = 'w', attempt = 1, lease_expires_at = now() + interval '1 hour'",
    "state = 'running', lease_by = 'w', attempt = 1, lease_expires_at = now() - interval '1 s'",
    "state = 'running', lease_by = 'w', attempt = 5, lease_expires_at = now() - interval '1 s'",
    "state = 'done', finished_at = now()",
)
SCOPES: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"labels": ["gpu"]},
    {"guilds": [str(STARLING), str(ROOK)]},
    {"min_priority": 0},
    {"assignee_kind": "agent"},
)


def fill_at_random(chance: random.Random) -> None:
    """Three guilds with jobs in every state that there is, some full, some held."""
    for guild_id in (STARLING, MAGPIE, ROOK):
        stored_guild(guild_id)
        for _ in range(chance.randrange(4)):
            stored_session(guild_id, n_tracks=chance.randint(1, 4))
        if chance.random() < 0.5:
            register_guild(guild_id, running_cap=chance.randint(1, 5))
        if chance.random() < 0.1:
            hold_guild(guild_id, reason="", caller=caller())
    ids = [JobId(job_id) for (job_id,) in query("SELECT id FROM guildqueue_job")]
    for job_id in ids:
        for state in chance.sample(STATES, k=chance.choice([0, 0, 1, 1, 2])):
            write(
                f"UPDATE guildqueue_job SET {state} WHERE id = %s"  # noqa: S608
                " AND state = 'pending'",
                job_id,
            )
    outstanding = [
        JobId(job_id) for (job_id,) in query("SELECT id FROM guildqueue_job WHERE state <> 'done'")
    ]
    put_in_lane(chance.sample(outstanding, k=min(len(outstanding), chance.choice([0, 1, 4]))))
