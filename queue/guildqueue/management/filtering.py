"""The filter that ready, claim, jobs and depth take, as flags."""

from argparse import ArgumentParser
from typing import Any

from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.job import KNOWN_KINDS, AssigneeKind
from guildqueue.management.arguments import Options, add_guild, chosen_guilds, identifier
from guildqueue.services.browse import guild_record

_WORDS = ("kinds", "labels", "any_labels", "states")


def add_filter(parser: ArgumentParser, *, is_list: bool = False) -> None:
    """Flags for every field of a filter; states and holds only where jobs are listed."""
    add_guild(parser, meaning="only jobs of this guild, repeatable (default: of all)")
    kinds = "" if is_list else f": {', '.join(KNOWN_KINDS)}"
    _add_words(parser, "--kinds", "KIND", f"only jobs of these kinds{kinds}")
    _add_words(parser, "--labels", "LABEL", "only jobs that carry all of these")
    _add_words(parser, "--any-labels", "LABEL", "only jobs that carry any of these")
    parser.add_argument(
        "--assignee-kind",
        metavar="WHO",
        help=f"{', '.join(AssigneeKind)} (default: {'any' if is_list else AssigneeKind.WORKER})",
    )
    parser.add_argument("--min-priority", type=int, metavar="N", help="N itself included")
    parser.add_argument("--max-priority", type=int, metavar="N", help="N itself included")
    parser.add_argument("--session", type=identifier, metavar="SESSION")
    if is_list:
        _add_words(parser, "--states", "STATE", "only jobs in one of these states")
        held = parser.add_mutually_exclusive_group()
        held.add_argument("--held", action="store_const", const=True, help="only what a hold keeps")
        held.add_argument("--not-held", dest="held", action="store_const", const=False)


def _add_words(parser: ArgumentParser, flag: str, metavar: str, meaning: str) -> None:
    parser.add_argument(flag, nargs="+", action="extend", metavar=metavar, help=meaning)


def chosen_filter(options: Options) -> JobFilter:
    """The filter of the flags. Raises InvalidInput, or GuildNotFound for an unknown guild."""
    given: dict[str, Any] = {
        name: options.get(name)
        for name in ("assignee_kind", "min_priority", "max_priority", "session", "held")
    }
    for name in _WORDS:
        given[name] = options.get(name) or []
    given["guilds"] = [guild_record(guild).id for guild in chosen_guilds(options["guilds"])]
    return parse_filter(given)
