"""``queue hold`` and ``queue release``: pause a session or a guild."""

from typing import Any

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.management.account import account_caller
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    session_in_guild,
    sole_guild,
)
from guildqueue.management.ending import Misused
from guildqueue.management.output import Output
from guildqueue.services.hold import hold_guild, hold_session, release_guild, release_session


def add_subcommands(subparsers: Any) -> None:
    holding = add_subcommand(
        subparsers, "hold", run_hold, about="Let nothing of a session, or of a guild, start."
    )
    releasing = add_subcommand(subparsers, "release", run_release, about="End a hold.")
    for parser in (holding, releasing):
        parser.add_argument(
            "session_id", nargs="?", type=identifier, metavar="SESSION", help="else the guild"
        )
        parser.add_argument(
            "--session", dest="named_session_id", type=identifier, metavar="SESSION"
        )
        add_guild(parser, meaning="the guild")
    holding.add_argument("--reason", default="", metavar="TEXT", help="why, for all to see")


def run_hold(out: Output, options: Options) -> None:
    session_id, guild_id = _subject(options)
    reason, caller = options["reason"], account_caller()
    if session_id is None:
        changed = hold_guild(guild_id, reason=reason, caller=caller)
    else:
        changed = hold_session(session_id, guild_id=guild_id, reason=reason, caller=caller)
    _tell(out, options, held=True, changed=changed)


def run_release(out: Output, options: Options) -> None:
    session_id, guild_id = _subject(options)
    caller = account_caller()
    if session_id is None:
        changed = release_guild(guild_id, caller=caller)
    else:
        changed = release_session(session_id, guild_id=guild_id, caller=caller)
    _tell(out, options, held=False, changed=changed)


def _subject(options: Options) -> tuple[SessionId | None, GuildId]:
    session_id = _session(options)
    if session_id is None:
        return None, sole_guild(options["guilds"])
    return session_id, session_in_guild(session_id, options["guilds"])


def _session(options: Options) -> SessionId | None:
    given = [n for n in (options["session_id"], options["named_session_id"]) if n is not None]
    if len(given) > 1:
        raise Misused("one session at most: SESSION or --session SESSION")
    return SessionId(given[0]) if given else None


def _tell(out: Output, options: Options, *, held: bool, changed: bool) -> None:
    session_id, guild_id = _subject(options)
    body = {
        "guild_id": str(guild_id),
        "session_id": str(session_id) if session_id else None,
        "held": held,
        "changed": changed,
    }
    subject = f"session {session_id}" if session_id else f"guild {guild_id}"
    done = "held" if held else "released"
    out.tell(body, f"{done} {subject}" if changed else f"nothing to do: {subject} is {done}")
