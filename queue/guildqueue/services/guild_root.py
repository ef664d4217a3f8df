"""A guild's root on this host: where its declaration lies, and whose it is."""

import contextlib
from collections.abc import Collection
from pathlib import Path

from django.conf import settings

from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId
from guildqueue.store import guild_folders, guilds


def guild_root(guild: GuildRecord) -> Path:
    """The root that the guild's record names, or its folder in the data directory."""
    return root_of(guild.id, guild.root)


def root_of(guild_id: GuildId, recorded: str | None) -> Path:
    """The same for whoever has read the record's root alone."""
    if recorded is not None:
        return Path(recorded)
    return Path(settings.DATA_DIR) / "guilds" / str(guild_id)


def ensure_root(guild_id: GuildId, recorded: str | None) -> None:
    """Make the guild's folder in the data directory, if its record names no other root.

    The account of this process is its operator then. A root that a record names is never made: who
    mistyped it should be told.
    """
    if recorded is None:
        # Without a folder it is a guild all the same; whoever bumps there is told why not.
        with contextlib.suppress(OSError):
            guild_folders.make_folder(root_of(guild_id, None))


def ensure_roots() -> None:
    """Make the folder of every guild that has none."""
    for guild_id in guilds.read_rootless_guild_ids():
        ensure_root(guild_id, None)


def declare_sources(guild: GuildRecord, sources: Collection[str]) -> Path | None:
    """The file that declares the sources at the guild's root, None if there is one already.

    Raises OSError if it cannot be written.
    """
    return guild_folders.write_declaration(guild_root(guild), sources)
