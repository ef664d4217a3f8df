"""``queue bump`` and ``queue unbump``: say what runs next, and take it back."""

from argparse import ArgumentParser
from typing import Any

from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import listed
from guildqueue.management.account import account_caller
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    sole_guild,
)
from guildqueue.management.asker import command_asker
from guildqueue.management.ending import Misused, Refused
from guildqueue.management.output import Output
from guildqueue.services.bump import bump_job, bump_session
from guildqueue.services.unbump import unbump_job, unbump_session

REASON_MOST = 500  # characters, as over HTTP


def add_subcommands(subparsers: Any) -> None:
    bumping = add_subcommand(
        subparsers, "bump", run_bump, about="Run a job or a session next, with all it needs."
    )
    taking_back = add_subcommand(
        subparsers, "unbump", run_unbump, about="Take back that a job or a session runs next."
    )
    for parser in (bumping, taking_back):
        parser.add_argument("job_id", nargs="?", type=identifier, metavar="JOB")
        parser.add_argument("--session", dest="session_id", type=identifier, metavar="SESSION")
        add_guild(parser, meaning="the guild")
        add_lane_options(parser)


def add_lane_options(parser: ArgumentParser) -> None:
    """What every request of the lane takes: ``--source`` and ``--reason``."""
    parser.add_argument("--source", metavar="NAME", help="ask as this declared automation")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")


def lane_options(options: Options) -> dict[str, Any]:
    """The guild, who asks and why, as the services of the lane take them."""
    if len(options["reason"]) > REASON_MOST:
        raise Misused(f"--reason: at most {REASON_MOST} characters")
    return {
        "guild_id": sole_guild(options["guilds"]),
        "asker": command_asker(options["source"]),
        "reason": options["reason"],
        "correlation_id": account_caller().correlation_id,
    }


def refuse_lane_options(options: Options) -> None:
    """Raises Misused for what is said to the lane where nothing is asked of it."""
    if options["source"] is not None or options["reason"]:
        raise Misused("--source and --reason are for --bump")


def job_or_session(options: Options) -> tuple[JobId | None, SessionId | None]:
    """The one that is named. Raises Misused for none and for both."""
    job_id, session_id = options["job_id"], options["session_id"]
    if (job_id is None) == (session_id is None):
        raise Misused("either JOB or --session SESSION")
    if job_id is not None:
        return JobId(job_id), None
    return None, SessionId(session_id)


def run_bump(out: Output, options: Options) -> None:
    job_id, session_id = job_or_session(options)
    asked = lane_options(options)
    if job_id is not None:
        tell(out, bump_job(job_id, **asked))
    elif session_id is not None:
        tell(out, bump_session(session_id, **asked))


def run_unbump(out: Output, options: Options) -> None:
    job_id, session_id = job_or_session(options)
    asked = lane_options(options)
    if job_id is not None:
        tell(out, unbump_job(job_id, **asked))
    elif session_id is not None:
        tell(out, unbump_session(session_id, **asked))


def tell(out: Output, outcome: LaneOutcome) -> None:
    """What became of the request. Raises Refused with the reason if it was not admitted."""
    out.tell(outcome.as_json(), *(_lines(outcome) if outcome.accepted else ()))
    if not outcome.accepted:
        raise Refused(outcome.note)


def _lines(outcome: LaneOutcome) -> list[str]:
    told = [
        ("runs next", outcome.moved),
        ("was ahead already", outcome.already if outcome.moved else ()),
        ("taken back", outcome.removed),
        ("left for a newer release", outcome.skipped),
    ]
    lines = [f"{words}: {listed(ids)}" for words, ids in told if ids]
    if outcome.note:
        lines.append(outcome.note)
    return lines or ["nothing to do"]
