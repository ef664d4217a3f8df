"""``queue guild`` and ``queue member``: a guild's record, and who administers it."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from guildqueue.domain.errors import GuildNotFound, UserNotFound
from guildqueue.domain.guild import GuildRecord
from guildqueue.domain.ids import GuildId
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    sole_guild,
)
from guildqueue.management.ending import Refused
from guildqueue.management.output import Output
from guildqueue.services.browse import guild_record
from guildqueue.services.membership import add_administrator, remove_administrator
from guildqueue.services.register_guild import register_guild


def add_subcommands(subparsers: Any) -> None:
    guild = add_subcommand(
        subparsers,
        "guild",
        run_guild,
        about="Show a guild, or write its record; a guild that is new is made.",
    )
    guild.add_argument("guild_id", type=identifier, metavar="ID")
    guild.add_argument("--name", metavar="NAME")
    guild.add_argument("--root", type=_folder, metavar="PATH", help="where its queue.toml lies")
    cap = guild.add_mutually_exclusive_group()
    cap.add_argument("--cap", type=_cap, metavar="N", help="most jobs that run at once")
    cap.add_argument(
        "--no-cap", action="store_true", help="no cap of its own: QUEUE_RUNNING_CAP counts"
    )
    member = add_subcommand(
        subparsers, "member", run_member, about="Make a user an administrator of a guild."
    )
    member.add_argument("username", metavar="USER")
    member.add_argument("--remove", action="store_true", help="take it away")
    add_guild(member, meaning="the guild")


def _folder(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ArgumentTypeError("is no path")
    return str(Path(text).expanduser().absolute())


def _cap(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:11]) <= 2**31 - 1:
        raise ArgumentTypeError(f"{text[:40]!r} is not a number from 1 on")
    return int(text)


def run_guild(out: Output, options: Options) -> None:
    guild_id = GuildId(options["guild_id"])
    name, root, cap = options["name"], options["root"], options["cap"]
    lifts_cap = options["no_cap"]
    if (name, root, cap) == (None, None, None) and not lifts_cap:
        guild = _known(guild_id)
    else:
        guild = register_guild(guild_id, name=name, root=root, running_cap=cap, lifts_cap=lifts_cap)
    body = {
        "guild_id": str(guild.id),
        "name": guild.name,
        "root": guild.root,
        "running_cap": guild.running_cap,
        "held": guild.hold is not None,
    }
    out.tell(body, *(f"{field}: {value}" for field, value in body.items() if value is not None))


def _known(guild_id: GuildId) -> GuildRecord:
    try:
        return guild_record(guild_id)
    except GuildNotFound as error:
        raise Refused(f"{error}; --name NAME makes it") from error


def run_member(out: Output, options: Options) -> None:
    guild_id = guild_record(sole_guild(options["guilds"])).id
    username, removes = options["username"], options["remove"]
    try:
        if removes:
            changed = remove_administrator(username, guild_id=guild_id)
        else:
            changed = add_administrator(username, guild_id=guild_id)
    except UserNotFound as error:
        hint = "make one with: manage.py createsuperuser"
        raise Refused(f"{error} who may sign in; {hint}") from error
    body = {
        "guild_id": str(guild_id),
        "username": username,
        "administrator": not removes,
        "changed": changed,
    }
    fact = f"{username} {'no longer administers' if removes else 'administers'} guild {guild_id}"
    out.tell(body, fact if changed else f"nothing to do: {fact}")
