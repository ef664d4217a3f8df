"""``queue requeue`` and ``queue cancel``: do jobs again, or not at all."""

from collections.abc import Callable, Sequence
from typing import Any

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.wire import ids
from guildqueue.management.account import account_caller
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    job_in_guild,
    session_in_guild,
)
from guildqueue.management.output import Output
from guildqueue.management.subcommands.running_next import (
    add_lane_options,
    job_or_session,
    lane_options,
    refuse_lane_options,
    tell,
)
from guildqueue.services.cancel import cancel_job, cancel_session
from guildqueue.services.requeue import requeue_job, requeue_session
from guildqueue.services.requeue_bumped import requeue_job_bumped, requeue_session_bumped


def add_subcommands(subparsers: Any) -> None:
    again = add_subcommand(
        subparsers, "requeue", run_requeue, about="Do what died or was cancelled again."
    )
    ending = add_subcommand(
        subparsers, "cancel", run_cancel, about="Cancel what is outstanding, running jobs too."
    )
    for parser in (again, ending):
        parser.add_argument("job_id", nargs="?", type=identifier, metavar="JOB")
        parser.add_argument("--session", dest="session_id", type=identifier, metavar="SESSION")
        add_guild(parser, meaning="only if it is this guild's")
    again.add_argument(
        "--bump", action="store_true", help="and run it next; needs -g and the grant"
    )
    add_lane_options(again)


def run_requeue(out: Output, options: Options) -> None:
    if options["bump"]:
        _requeue_bumped(out, options)
        return
    refuse_lane_options(options)
    caller = account_caller()
    jobs = _asked(
        options,
        of_job=lambda job, guild: requeue_job(job, guild_id=guild, caller=caller),
        of_session=lambda session, guild: requeue_session(session, guild_id=guild, caller=caller),
    )
    _tell(out, "requeued", jobs)


def _requeue_bumped(out: Output, options: Options) -> None:
    job_id, session_id = job_or_session(options)
    asked = lane_options(options)
    if job_id is not None:
        tell(out, requeue_job_bumped(job_id, **asked))
    elif session_id is not None:
        tell(out, requeue_session_bumped(session_id, **asked))


def run_cancel(out: Output, options: Options) -> None:
    caller = account_caller()
    jobs = _asked(
        options,
        of_job=lambda job, guild: cancel_job(job, guild_id=guild, caller=caller),
        of_session=lambda session, guild: cancel_session(session, guild_id=guild, caller=caller),
    )
    _tell(out, "cancelled", jobs)


def _asked(
    options: Options,
    *,
    of_job: Callable[[JobId, GuildId], tuple[JobId, ...]],
    of_session: Callable[[SessionId, GuildId], tuple[JobId, ...]],
) -> tuple[JobId, ...]:
    job_id, session_id = job_or_session(options)
    if job_id is not None:
        return of_job(job_id, job_in_guild(job_id, options["guilds"]))
    named = SessionId(options["session_id"] if session_id is None else session_id)
    return of_session(named, session_in_guild(named, options["guilds"]))


def _tell(out: Output, done: str, jobs: Sequence[JobId]) -> None:
    numbers = ids(jobs)
    out.tell({"jobs": numbers}, f"{done} {len(numbers)} jobs: {' '.join(numbers)}")
