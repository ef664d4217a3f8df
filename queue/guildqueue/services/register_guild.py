"""A guild's own record: its name, its root and its cap."""

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.services.guild_root import ensure_root
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.services.wake import wake_workers
from guildqueue.store import guilds


@decided_in_transaction
def register_guild(
    guild_id: GuildId,
    *,
    name: str | None = None,
    root: str | None = None,
    running_cap: int | None = None,
    lifts_cap: bool = False,
) -> GuildRecord:
    """The guild, created if it was not there, with what is not None written, and its folder.

    ``lifts_cap`` takes its own cap away, so that the deployment's default counts, and leaves
    ``running_cap`` aside.

    Raises InvalidInput for an id or a cap below 1, or an empty name.
    """
    if not 1 <= guild_id <= BIGINT_MAX:
        raise InvalidInput("guild", guild_id, f"a number from 1 to {BIGINT_MAX}")
    if name is not None and not name.strip():
        raise InvalidInput("name", name, "some text")
    if running_cap is not None and not 1 <= running_cap <= 2**31 - 1:
        raise InvalidInput("cap", running_cap, "a number from 1 on")
    if lifts_cap or running_cap is not None:
        wake_workers()
    guild = guilds.upsert_guild(
        guild_id, name=name, root=root, running_cap=running_cap, lifts_cap=lifts_cap
    ).guild
    ensure_root(guild_id, guild.root)
    return guild


@decided_in_transaction
def ensure_guild(guild_id: GuildId, *, name: str) -> bool:
    """True if the guild is new, and has its folder; one that was there keeps its name."""
    is_new = guilds.insert_guild(guild_id, name)
    if is_new:
        ensure_root(guild_id, None)
    return is_new
