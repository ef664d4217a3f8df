"""``queue prune``: finished sessions that are old go, in small batches."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

from guildqueue.domain.wire import moment
from guildqueue.management.arguments import Options, add_guild, add_subcommand, chosen_guilds
from guildqueue.management.output import Output
from guildqueue.services import prune
from guildqueue.services.verify import all_guilds


def add_subcommands(subparsers: Any) -> None:
    parser = add_subcommand(
        subparsers, "prune", run_prune, about="Remove finished sessions by age; never the ledger."
    )
    add_guild(parser, meaning="a guild, repeatable; every guild without")
    parser.add_argument(
        "--older-than",
        type=_number(0, prune.DAYS_MOST),
        required=True,
        metavar="DAYS",
        help="those of which every job ended so many days ago",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")
    parser.add_argument(
        "--batch",
        type=_number(1, prune.BATCH_MOST),
        default=prune.BATCH,
        metavar="N",
        help=f"so many sessions a transaction ({prune.BATCH})",
    )


def run_prune(out: Output, options: Options) -> None:
    dry_run = options["dry_run"]
    ended_before = prune.age_limit(options["older_than"])
    found = [
        prune.prune_guild(
            guild_id, ended_before=ended_before, batch=options["batch"], dry_run=dry_run
        )
        for guild_id in chosen_guilds(options["guilds"]) or all_guilds()
    ]
    touched = [guild for guild in found if guild.n_sessions]
    n_cursors = None if dry_run else prune.prune_all_cursors()
    body = {
        "dry_run": dry_run,
        "ended_before": moment(ended_before),
        "guilds": [_body(guild) for guild in touched],
        "sessions": sum(guild.n_sessions for guild in touched),
        "jobs": sum(guild.n_jobs for guild in touched),
        "files": None if dry_run else sum(guild.n_files for guild in touched),
        "cursors": n_cursors,
    }
    verb = "would remove" if dry_run else "removed"
    lines = [
        f"guild {guild.guild_id}: {verb} {guild.n_sessions} sessions with {guild.n_jobs} jobs"
        for guild in touched
    ]
    tail = "" if dry_run else f", {body['files']} files and {n_cursors} turns of claims"
    total = f"{verb} {body['sessions']} sessions with {body['jobs']} jobs{tail}"
    out.tell(body, *lines, f"{total}; they ended before {body['ended_before']}")


def _body(guild: prune.PrunedGuild) -> dict[str, Any]:
    return {
        "guild_id": str(guild.guild_id),
        "sessions": guild.n_sessions,
        "jobs": guild.n_jobs,
    }


def _number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        is_number = text.isascii() and text.isdecimal() and len(text) <= 9
        if not is_number or not low <= int(text) <= high:
            raise ArgumentTypeError(f"{text[:40]!r} is no whole number from {low} to {high}")
        return int(text)

    return parse
