"""``queue add``: a job that no recording brought, or a file of them."""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.job import KNOWN_KINDS, AssigneeKind
from guildqueue.domain.json_lines import LineFault
from guildqueue.domain.new_job import Need, NewJob
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    guild_or_none,
    identifier,
    session_in_guild,
)
from guildqueue.management.ending import Broken, Misused
from guildqueue.management.job_lines import read_jobs
from guildqueue.management.output import Output
from guildqueue.management.subcommands.running_next import (
    add_lane_options,
    lane_options,
    refuse_lane_options,
    tell,
)
from guildqueue.services.bump import bump_added
from guildqueue.services.enqueue import enqueue_jobs

# What a file says itself, line by line.
_OF_ONE = (
    "assignee_kind",
    "payload",
    "needs",
    "labels",
    "run_after",
    "external_id",
    "audio_seconds",
)


def add_subcommands(subparsers: Any) -> None:
    adding = add_subcommand(
        subparsers, "add", run_add, about="Add a job to a session, or many from a file."
    )
    adding.add_argument("kind", nargs="?", metavar="KIND", help=" or ".join(KNOWN_KINDS))
    adding.add_argument("--session", dest="session_id", type=identifier, metavar="SESSION")
    adding.add_argument(
        "--from",
        dest="source_file",
        metavar="FILE",
        help="JSON lines, each as POST /api/jobs takes it, - for standard input; all or none are "
        "added, KIND and --session count where a line says none",
    )
    _add_details(adding)
    add_guild(adding, meaning="only if the session is this guild's")
    adding.add_argument(
        "--bump", action="store_true", help="and run it next; needs -g and the grant"
    )
    add_lane_options(adding)


def _add_details(adding: ArgumentParser) -> None:
    adding.add_argument(
        "--assignee-kind", metavar="WHO", help=f"{', '.join(AssigneeKind)} (worker)"
    )
    adding.add_argument("--payload", type=_payload, metavar="JSON", help="an object")
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
    if options["source_file"] is not None:
        _add_many(out, options)
        return
    for name, shown in (("kind", "KIND"), ("session_id", "--session")):
        if options[name] is None:
            raise Misused(f"{shown} is needed, or --from FILE")
    if options["bump"]:
        _add_bumped(out, options)
        return
    refuse_lane_options(options)
    guild_id = session_in_guild(options["session_id"], options["guilds"])
    (added,) = enqueue_jobs(guild_id, jobs=[_job(options)])
    fact = f"added job {added.job_id}" if added.created else f"job {added.job_id} was there already"
    out.tell({"job_id": str(added.job_id), "created": added.created}, fact)


def _add_many(out: Output, options: Options) -> None:
    refuse_lane_options(options)
    if any(options[name] is not None for name in _OF_ONE) or options["bump"]:
        raise Misused(
            "--from FILE: only KIND, --session and -g go with it, each line says the rest"
        )
    named = guild_or_none(options["guilds"])
    defaults = {name: options[name] for name in ("kind", "session_id") if options[name] is not None}
    try:
        read = read_jobs(_lines(options["source_file"]), guild_id=named, defaults=defaults)
    except LineFault as fault:
        raise Broken(f"{options['source_file']}: {fault}") from fault
    said = None if read.guild_id is None else [read.guild_id]
    guild_id = session_in_guild(read.jobs[0].session_id, said)
    added = enqueue_jobs(guild_id, jobs=read.jobs)
    body = [{"job_id": str(job.job_id), "created": job.created} for job in added]
    n_new = sum(job.created for job in added)
    known = f", {len(added) - n_new} were there already" if n_new < len(added) else ""
    out.tell({"jobs": body, "created": n_new}, f"added {n_new} jobs{known}")


def _lines(source_file: str) -> list[bytes]:
    """Raises OSError if there is no such file, or it cannot be read."""
    text = sys.stdin.buffer.read() if source_file == "-" else Path(source_file).read_bytes()
    # Not splitlines(): what JSON text may hold inside a line is no end of it.
    return text.split(b"\n")


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
        assignee_kind=options["assignee_kind"] or AssigneeKind.WORKER,
        payload=options["payload"] or {},
        needs=tuple(options["needs"] or ()),
        labels=tuple(options["labels"] or ()),
        run_after=options["run_after"],
        external_id=options["external_id"],
        audio_seconds=options["audio_seconds"],
    )
