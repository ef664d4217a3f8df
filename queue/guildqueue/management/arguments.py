"""The arguments that several commands take, spelled and refused the same everywhere."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf import settings

from guildqueue.domain.errors import JobNotFound, SessionNotFound
from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId, SessionId
from guildqueue.management.ending import Misused
from guildqueue.management.output import Output
from guildqueue.services import browse

Options = Mapping[str, Any]
Run = Callable[[Output, Options], None]


def add_subcommand(subparsers: Any, name: str, run: Run, *, about: str) -> ArgumentParser:
    """A parser for ``queue NAME``, which ``run`` answers."""
    parser: ArgumentParser = subparsers.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="answer with one line of JSON")
    parser.set_defaults(run=run)
    return parser


def identifier(text: str) -> int:
    """A positive number that a bigint holds."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:20]) <= BIGINT_MAX:
        raise ArgumentTypeError(f"{text[:40]!r} is no id")
    return int(text)


def add_guild(parser: ArgumentParser, *, meaning: str) -> None:
    """``-g/--guild ID``, repeatable."""
    parser.add_argument(
        "-g",
        "--guild",
        dest="guilds",
        action="append",
        type=identifier,
        metavar="ID",
        help=f"{meaning}; where it is not given, GUILDQUEUE_GUILD counts",
    )


def chosen_guilds(given: Sequence[int] | None) -> list[GuildId]:
    """The guilds of the flag, or else of the setting; may be none."""
    chosen = given or ([settings.GUILDQUEUE_GUILD] if settings.GUILDQUEUE_GUILD else [])
    return list(dict.fromkeys(GuildId(guild_id) for guild_id in chosen))


def guild_or_none(given: Sequence[int] | None) -> GuildId | None:
    """The one guild, or None. Raises Misused for several."""
    chosen = chosen_guilds(given)
    if len(chosen) > 1:
        raise Misused("one guild at most: -g/--guild was given more than once")
    return chosen[0] if chosen else None


def sole_guild(given: Sequence[int] | None) -> GuildId:
    """The one guild. Raises Misused for none and for several."""
    guild_id = guild_or_none(given)
    if guild_id is None:
        raise Misused("a guild is needed: -g/--guild ID, or GUILDQUEUE_GUILD")
    return guild_id


def session_in_guild(session_id: int, given: Sequence[int] | None) -> GuildId:
    """The session's guild. Raises SessionNotFound where another guild was named."""
    guild_id = browse.session_guild(SessionId(session_id))
    if guild_or_none(given) not in (None, guild_id):
        raise SessionNotFound(session_id)
    return guild_id


def job_in_guild(job_id: int, given: Sequence[int] | None) -> GuildId:
    """The job's guild. Raises JobNotFound where another guild was named."""
    guild_id = browse.job_guild(JobId(job_id))
    if guild_or_none(given) not in (None, guild_id):
        raise JobNotFound(job_id)
    return guild_id
