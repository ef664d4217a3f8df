"""Guilds, who administers them, and the list of them."""

from collections.abc import Collection
from typing import Any, NamedTuple

from guildqueue.domain.guild import GuildRecord, GuildSummary
from guildqueue.domain.ids import GuildId, SessionId, UserId
from guildqueue.domain.job import JobState
from guildqueue.domain.snapshot import GuildCounts, HoldNote
from guildqueue.store.job_rows import parsed_json
from guildqueue.store.statements import execute, row, rows, sole


class Upserted(NamedTuple):
    """A guild's record, and whether it is new."""

    guild: GuildRecord
    is_new: bool


def hold_from_row(found: Any) -> HoldNote | None:
    """The hold that the columns held_at, held_by and hold_reason spell."""
    if found.held_at is None:
        return None
    return HoldNote(at=found.held_at, by=found.held_by, reason=found.hold_reason)


def guild_from_row(found: Any) -> GuildRecord:
    """The guild of a row with the part ``guild_columns``."""
    return GuildRecord(
        id=GuildId(found.id),
        name=found.name,
        root=found.root,
        running_cap=found.running_cap,
        hold=hold_from_row(found),
    )


def counts_from(ended: Any, *, pending: int, running: int, held: int) -> GuildCounts:
    """A guild's counts from its counters of ended jobs, ``{state: n}``, and what is outstanding."""
    counters: dict[str, int] = dict(parsed_json(ended))
    known = {
        state.value: int(counters.pop(state, 0))
        for state in (JobState.DONE, JobState.DEAD, JobState.CANCELLED)
    }
    other = int(sum(counters.values()))
    return GuildCounts(pending=pending, running=running, held=held, other=other, **known)


def upsert_guild(
    guild_id: GuildId,
    *,
    name: str | None,
    root: str | None,
    running_cap: int | None,
    lifts_cap: bool,
) -> Upserted:
    """The guild with what is not None written, and without a cap where that is lifted."""
    wanted = {"name": name, "root": root, "running_cap": running_cap, "lifts_cap": lifts_cap}
    found = sole("upsert_guild", {"guild_id": guild_id, **wanted})
    return Upserted(guild_from_row(found), found.is_new)


def insert_guild(guild_id: GuildId, name: str) -> bool:
    """True if the guild was not there before; one that was keeps its name."""
    return execute("insert_guild", {"guild_id": guild_id, "name": name}) == 1


def read_guild(guild_id: GuildId) -> GuildRecord | None:
    """The guild's record."""
    found = row("read_guild", {"guild_id": guild_id})
    return guild_from_row(found) if found else None


def read_guild_ids() -> list[GuildId]:
    """Every guild, ascending."""
    return [GuildId(guild.id) for guild in rows("read_guild_ids", {})]


def read_rootless_guild_ids() -> list[GuildId]:
    """The guilds whose record names no root, ascending."""
    return [GuildId(guild.id) for guild in rows("read_rootless_guild_ids", {})]


def read_administered_guild(user_id: UserId, guild_id: GuildId) -> GuildRecord | None:
    """The guild, if that active user administers it."""
    found = row("read_administered_guild", {"user_id": user_id, "guild_id": guild_id})
    return guild_from_row(found) if found else None


def read_administered_session(user_id: UserId, session_id: SessionId) -> GuildId | None:
    """The session's guild, if that active user administers it."""
    found = row("read_administered_session", {"user_id": user_id, "session_id": session_id})
    return GuildId(found.guild_id) if found else None


def read_administered_pairs(
    pairs: Collection[tuple[UserId, GuildId]],
) -> frozenset[tuple[UserId, GuildId]]:
    """Those of the pairs of which the user is active and administers the guild."""
    asked = {
        "user_ids": [user_id for user_id, _ in pairs],
        "guild_ids": [guild_id for _, guild_id in pairs],
    }
    found = rows("read_administered_pairs", asked)
    return frozenset((UserId(pair.user_id), GuildId(pair.guild_id)) for pair in found)


def insert_administrator(guild_id: GuildId, user_id: UserId) -> bool:
    """True if the user did not administer the guild before."""
    return bool(rows("insert_administrator", {"guild_id": guild_id, "user_id": user_id}))


def delete_administrator(guild_id: GuildId, user_id: UserId) -> bool:
    """True if the user administered the guild before."""
    return bool(rows("delete_administrator", {"guild_id": guild_id, "user_id": user_id}))


def find_user(username: str) -> UserId | None:
    """The active user of that name."""
    found = row("find_user", {"username": username})
    return UserId(found.id) if found else None


def lock_guild(guild_id: GuildId) -> bool:
    """True if there is such a guild; its row is locked."""
    return bool(rows("lock_guild", {"guild_id": guild_id}))


def hold_guild(guild_id: GuildId, *, by: str, reason: str) -> bool:
    """True if the guild was not held before."""
    return bool(rows("hold_guild", {"guild_id": guild_id, "by": by, "reason": reason}))


def release_guild(guild_id: GuildId) -> bool:
    """True if the guild was held before."""
    return bool(rows("release_guild", {"guild_id": guild_id}))


class ListedGuilds(NamedTuple):
    """A user's guilds, and the number of the moment at which they were read."""

    number: int
    guilds: list[GuildSummary]


def read_guild_lists(user_ids: Collection[UserId]) -> dict[UserId, ListedGuilds]:
    """The guilds that each of the users administers, by name; none for one who is not active."""
    lists: dict[UserId, ListedGuilds] = {}
    for found in rows("read_guild_lists", {"user_ids": list(user_ids)}):
        number = int(found.snapshot_number)
        listed = lists.setdefault(UserId(found.user_id), ListedGuilds(number, []))
        if found.id is not None:
            listed.guilds.append(_summary(found))
    return lists


def _summary(found: Any) -> GuildSummary:
    return GuildSummary(
        id=GuildId(found.id),
        name=found.name,
        hold=hold_from_row(found),
        counts=counts_from(
            found.ended, pending=found.n_pending, running=found.n_running, held=found.n_held
        ),
        n_sessions=found.n_sessions,
        next_title=found.next_title,
        last_finished_at=found.last_finished_at,
    )
