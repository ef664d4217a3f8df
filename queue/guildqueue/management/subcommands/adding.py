"""``queue add``: a job that no recording brought."""

import json
from argparse import ArgumentTypeError
from datetime import datetime
from typing import Any

from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.job import KNOWN_KINDS, AssigneeKind
from guildqueue.domain.new_job import Need, NewJob
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    session_in_guild,
)
from guildqueue.management.output import Output
from guildqueue.management.subcommands.running_next import (
    add_lane_options,
    lane_options,
    refuse_lane_options,
    tell,
)
from guildqueue.services.bump import bump_added
from guildqueue.services.enqueue import enqueue_jobs


def add_subcommands(subparsers: Any) -> None:
    adding = add_subcommand(subparsers, "add", run_add, about="Add a job to a session.")
    adding.add_argument("kind", metavar="KIND", help=" or ".join(KNOWN_KINDS))
    adding.add_argument(
        "--session", dest="session_id", type=identifier, required=True, metavar="SESSION"
    )
    adding.add_argument(
        "--assignee-kind",
        default=AssigneeKind.WORKER.value,
        metavar="WHO",
        help=f"{', '.join(AssigneeKind)} (worker)",
    )
    adding.add_argument("--payload", type=_payload, default={}, metavar="JSON", help="an object")
    adding.add_argument(
        "--needs",
        type=_need,
        nargs="+",
        action="extend",
        metavar="JOB",
        help="jobs that must be done before, by their ids, or external ids after a colon (:ID)",
    )
    adding.add_argument("--labels", nargs="+", action="extend", metavar="LABEL")
    adding.add_argument("--run-after", type=_moment, metavar="TIME", help="ISO 8601 with its zone")
    adding.add_argument("--external-id", metavar="ID", help="added once under this name")
    adding.add_argument("--audio-seconds", type=float, metavar="SECONDS")
    add_guild(adding, meaning="only if the session is this guild's")
    adding.add_argument(
        "--bump", action="store_true", help="and run it next; needs -g and the grant"
    )
    add_lane_options(adding)


def _payload(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"{text[:40]!r} is no JSON object")
    return value


def _need(text: str) -> Need:
    return text[1:] if text.startswith(":") else JobId(identifier(text))


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text[:40]!r} is no ISO 8601 moment") from None


def run_add(out: Output, options: Options) -> None:
    if options["bump"]:
        _add_bumped(out, options)
        return
    refuse_lane_options(options)
    guild_id = session_in_guild(options["session_id"], options["guilds"])
    (added,) = enqueue_jobs(guild_id, jobs=[_job(options)])
    fact = f"added job {added.job_id}" if added.created else f"job {added.job_id} was there already"
    out.tell({"job_id": str(added.job_id), "created": added.created}, fact)


def _add_bumped(out: Output, options: Options) -> None:
    asked = lane_options(options)
    job = _job(options)

    def add() -> JobId:
        return enqueue_jobs(asked["guild_id"], jobs=[job])[0].job_id

    tell(out, bump_added(add, external_id=job.external_id, **asked))


def _job(options: Options) -> NewJob:
    return NewJob(
        session_id=SessionId(options["session_id"]),
        kind=options["kind"],
        assignee_kind=options["assignee_kind"],
        payload=options["payload"],
        needs=tuple(options["needs"] or ()),
        labels=tuple(options["labels"] or ()),
        run_after=options["run_after"],
        external_id=options["external_id"],
        audio_seconds=options["audio_seconds"],
    )
