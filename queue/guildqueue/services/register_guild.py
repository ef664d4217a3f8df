"""A guild's own record: its name, its root and its cap."""

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds


@decided_in_transaction
def register_guild(
    guild_id: GuildId,
    *,
    name: str | None = None,
    root: str | None = None,
    running_cap: int | None = None,
) -> GuildRecord:
    """The guild, created if it was not there, with what is not None written.

    Raises InvalidInput for an id or a cap below 1, or an empty name.
    """
    if not 1 <= guild_id <= BIGINT_MAX:
        raise InvalidInput("guild", guild_id, f"a number from 1 to {BIGINT_MAX}")
    if name is not None and not name.strip():
        raise InvalidInput("name", name, "some text")
    if running_cap is not None and not 1 <= running_cap <= 2**31 - 1:
        raise InvalidInput("cap", running_cap, "a number from 1 on")
    return guilds.upsert_guild(guild_id, name=name, root=root, running_cap=running_cap).guild


@decided_in_transaction
def ensure_guild(guild_id: GuildId, *, name: str) -> bool:
    """True if the guild is new; one that was there keeps its name."""
    return guilds.insert_guild(guild_id, name)
