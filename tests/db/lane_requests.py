"""Requests of the lane in the database, of an operator who owns the guild's root, and its lane."""

import os
from pathlib import Path

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.services import bump, unbump
from guildqueue.services.register_guild import register_guild
from tests.builders import STARLING, stored_session, track_ids
from tests.db.races import query
from tests.db.stored import write

ACCOUNT = Principal(PrincipalKind.ACCOUNT, "tester")


def rooted_guild(
    root: Path,
    guild_id: GuildId = STARLING,
    *,
    name: str = "Starling Guild",
    sources: tuple[str, ...] = (),
) -> GuildId:
    """A guild whose declaration lies in ``root``; the account of the tests is the operator."""
    listed = ", ".join(f'"{source}"' for source in sources)
    (root / "queue.toml").write_text(f"[queue.priority]\nsources = [{listed}]\n")
    return register_guild(guild_id, name=name, root=str(root)).id


def operator(*, source: str | None = None) -> Asker:
    return Asker(uid=os.getuid(), principal=ACCOUNT, source=source)


def stranger() -> Asker:
    return Asker(uid=os.getuid() + 4321, principal=ACCOUNT)


def bumped(job_id: JobId, guild_id: GuildId = STARLING, *, reason: str = "") -> LaneOutcome:
    return bump.bump_job(job_id, guild_id=guild_id, asker=operator(), reason=reason)


def unbumped(job_id: JobId, guild_id: GuildId = STARLING) -> LaneOutcome:
    return unbump.unbump_job(job_id, guild_id=guild_id, asker=operator())


def bumped_session(session_id: SessionId, guild_id: GuildId = STARLING) -> LaneOutcome:
    return bump.bump_session(session_id, guild_id=guild_id, asker=operator())


def tracks_alone(guild_id: GuildId, n: int) -> list[JobId]:
    """The tracks of ``n`` meetings of one track each, in the order of the queue."""
    return [track_ids(stored_session(guild_id))[0] for _ in range(n)]


def lane(guild_id: GuildId = STARLING) -> list[JobId]:
    """The lane in its order."""
    found = query(
        "SELECT id FROM guildqueue_job WHERE guild_id = %s AND bump_seq IS NOT NULL"
        " ORDER BY bump_seq",
        [guild_id],
    )
    return [job_id for (job_id,) in found]


def named(guild_id: GuildId = STARLING) -> set[JobId]:
    found = query("SELECT id FROM guildqueue_job WHERE guild_id = %s AND bump_named", [guild_id])
    return {job_id for (job_id,) in found}


def chain(guild_id: GuildId, n: int) -> list[JobId]:
    """``n`` jobs, each of which needs the one before."""
    [(first,)] = query(
        "WITH made AS (INSERT INTO guildqueue_session (guild_id, title)"
        " VALUES (%s, 'a long chain') RETURNING id),"
        " jobs AS (INSERT INTO guildqueue_job (guild_id, session_id, kind, unmet)"
        "  SELECT %s, made.id, 'transcribe', (n > 1)::int"
        "    FROM made, generate_series(1, %s) AS n ORDER BY n RETURNING id)"
        " SELECT min(id) FROM jobs",
        [guild_id, guild_id, n],
    )
    write(
        "INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)"
        " SELECT %s, id, id - 1 FROM generate_series(%s::bigint + 1, %s::bigint) AS id",
        guild_id,
        first,
        first + n - 1,
    )
    return [JobId(first + number) for number in range(n)]
