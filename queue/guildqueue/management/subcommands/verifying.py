"""``queue verify``: whether the ledger is as it was written, and says what the lane is."""

from typing import Any

from guildqueue.management.account import account_caller
from guildqueue.management.arguments import Options, add_guild, add_subcommand, chosen_guilds
from guildqueue.management.ending import Broken
from guildqueue.management.output import Output
from guildqueue.services.verify import Verdict, all_guilds, verify_ledger


def add_subcommands(subparsers: Any) -> None:
    parser = add_subcommand(
        subparsers, "verify", run_verify, about="Check the chain of the ledger, and the lane by it."
    )
    add_guild(parser, meaning="a guild, repeatable; every guild without")
    parser.add_argument(
        "--repair", action="store_true", help="append a record for each difference of the lane"
    )


def run_verify(out: Output, options: Options) -> None:
    guild_ids = chosen_guilds(options["guilds"]) or all_guilds()
    repair = account_caller() if options["repair"] else None
    verdicts = [verify_ledger(guild_id, repair=repair) for guild_id in guild_ids]
    body = {"guilds": [_body(verdict) for verdict in verdicts]}
    out.tell(body, *(line for verdict in verdicts for line in _lines(verdict)))
    unsound = [str(verdict.guild_id) for verdict in verdicts if not verdict.is_sound]
    if unsound:
        raise Broken(f"the ledger is not sound: guild {', guild '.join(unsound)}")


def _body(verdict: Verdict) -> dict[str, Any]:
    return {
        "guild_id": str(verdict.guild_id),
        "records": verdict.n_records,
        "faults": [{"event_id": str(f.event_id), "fact": f.fact} for f in verdict.faults],
        "differences": [difference.fact for difference in verdict.differences],
        "repaired": verdict.n_repaired,
        "sound": verdict.is_sound,
    }


def _lines(verdict: Verdict) -> list[str]:
    lines = [f"record {fault.event_id} {fault.fact}" for fault in verdict.faults]
    lines += [difference.fact for difference in verdict.differences]
    if verdict.n_repaired:
        lines.append(f"correcting records appended: {verdict.n_repaired}")
    state = "sound" if verdict.is_sound else "not sound"
    return [*lines, f"guild {verdict.guild_id}: {verdict.n_records} records, {state}"]
