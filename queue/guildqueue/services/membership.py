"""Who administers which guild: the one answer that every front end asks for."""

from collections.abc import Collection

from guildqueue.domain.errors import GuildNotFound, SessionNotFound, UserNotFound
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId, SessionId, UserId
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds


def administered_guild(user_id: UserId, *, guild_id: GuildId) -> GuildRecord:
    """The guild. Raises GuildNotFound alike for none and for one that is not the user's."""
    guild = guilds.read_administered_guild(user_id, guild_id)
    if guild is None:
        raise GuildNotFound(guild_id)
    return guild


def administered_session(user_id: UserId, *, session_id: SessionId) -> GuildId:
    """The session's guild. Raises SessionNotFound alike for none and not the user's."""
    guild_id = guilds.read_administered_session(user_id, session_id)
    if guild_id is None:
        raise SessionNotFound(session_id)
    return guild_id


def administered_pairs(
    pairs: Collection[tuple[UserId, GuildId]],
) -> frozenset[tuple[UserId, GuildId]]:
    """Those of the pairs of which the user is active and administers the guild; one read."""
    return guilds.read_administered_pairs(pairs)


@decided_in_transaction
def add_administrator(username: str, *, guild_id: GuildId) -> bool:
    """True if the user did not administer the guild before. Raises UserNotFound, GuildNotFound."""
    user_id = _user(username)
    if guilds.read_guild(guild_id) is None:
        raise GuildNotFound(guild_id)
    return guilds.insert_administrator(guild_id, user_id)


@decided_in_transaction
def remove_administrator(username: str, *, guild_id: GuildId) -> bool:
    """True if the user administered the guild before. Raises UserNotFound."""
    return guilds.delete_administrator(guild_id, _user(username))


def _user(username: str) -> UserId:
    user_id = guilds.find_user(username)
    if user_id is None:
        raise UserNotFound(username)
    return user_id
