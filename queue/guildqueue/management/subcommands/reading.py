"""``queue list``, ``queue show`` and ``queue events``: what there is."""

from typing import Any

from guildqueue.domain.ids import EventId, JobId, SessionId
from guildqueue.domain.lane_refusals import listed
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.session_detail import JobDetail
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry
from guildqueue.domain.wire import event_body, job_body, lane_body, moment, snapshot_body
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    job_in_guild,
    sole_guild,
)
from guildqueue.management.output import Output, length_words
from guildqueue.services.browse import EVENTS_A_PAGE, events_page, guild_record, job_detail
from guildqueue.services.read_lane import GuildLane, guild_lane
from guildqueue.services.snapshot import queue_snapshot

_LIST = ("place", "session", "state", "number", "people", "audio", "done", "title")


def add_subcommands(subparsers: Any) -> None:
    listing = add_subcommand(
        subparsers, "list", run_list, about="The queue of a guild in the order it is worked off."
    )
    add_guild(listing, meaning="the guild")
    listing.add_argument(
        "--after", type=identifier, metavar="SESSION", help="go on behind this session"
    )
    showing = add_subcommand(subparsers, "show", run_show, about="One job in full.")
    showing.add_argument("job_id", type=identifier, metavar="JOB")
    add_guild(showing, meaning="only if it is this guild's")
    events = add_subcommand(
        subparsers, "events", run_events, about="The ledger of a guild, newest first."
    )
    add_guild(events, meaning="the guild")
    events.add_argument(
        "--before", type=identifier, metavar="EVENT", help="only records older than this one"
    )


def run_list(out: Output, options: Options) -> None:
    after = options["after"]
    snapshot = queue_snapshot(
        sole_guild(options["guilds"]), after=SessionId(after) if after else None
    )
    entries = (*snapshot.sessions, *snapshot.finished)
    lane = guild_lane(snapshot.guild_id)
    body = snapshot_body(snapshot) | lane_body(lane.jobs, lane.unplaced)
    out.table(body, _LIST, (_entry_row(entry) for entry in entries))
    if not out.as_json:
        out.tell(None, *_after_list(snapshot), *_lane_lines(lane))


def _entry_row(entry: SessionEntry) -> tuple[object, ...]:
    return (
        _place(entry),
        entry.session_id,
        entry.state,
        entry.priority,
        entry.participants,
        length_words(entry.audio_seconds),
        f"{entry.progress:.0%}",
        entry.title,
    )


def _place(entry: SessionEntry) -> object:
    """The place in line; ``next`` for a session of the lane, ``(next)`` if nobody named it."""
    if entry.in_lane:
        return "next" if entry.named else "(next)"
    return entry.position


def _lane_lines(lane: GuildLane) -> list[str]:
    next_up = [
        f"next: job {note.job_id} {note.name} of session {note.session_id}, "
        + (f"named by {note.by or '?'}" if note.named else f"pulled in by {note.by or '?'}")
        + (f" at {moment(note.at)}" if note.at else "")
        + (f": {note.reason}" if note.reason else "")
        for note in lane.jobs
    ]
    unplaced = [
        f"no place in line: job {job.job_id} of session {job.session_id}, "
        f"of a kind that only a newer release knows: {job.kind}"
        for job in lane.unplaced
    ]
    return [*next_up, *unplaced]


def _after_list(snapshot: QueueSnapshot) -> list[str]:
    counts = snapshot.counts
    name = snapshot.guild_name + (", held" if snapshot.held else "")
    jobs = f"{counts.pending} waiting, {counts.running} running, {counts.done} done"
    lines = [f"{name}: {jobs}, {counts.dead} dead"]
    if snapshot.more:
        last = snapshot.sessions[-1].session_id
        lines.append(f"{snapshot.more} more sessions: go on with --after {last}")
    return lines


def run_show(out: Output, options: Options) -> None:
    job_in_guild(options["job_id"], options["guilds"])
    detail = job_detail(JobId(options["job_id"]))
    body = _detail_body(detail)
    out.tell(body, *(f"{name}: {value}" for name, value in body.items() if value is not None))


def _detail_body(detail: JobDetail) -> dict[str, Any]:
    job = detail.job
    return job_body(job) | {
        "progress": job.progress,
        "unmet": job.unmet,
        "held": job.held,
        "waits_for": detail.waits_for,
        "lease_by": detail.lease_by,
        "lease_expires_at": moment(detail.lease_expires_at),
        "error": job.error,
        "result": job.result,
        "started_at": moment(job.started_at),
        "finished_at": moment(job.finished_at),
    }


def run_events(out: Output, options: Options) -> None:
    guild_id = guild_record(sole_guild(options["guilds"])).id
    before = options["before"]
    page = events_page(guild_id, before=EventId(before) if before else None)
    more = str(page[-1].event_id) if len(page) == EVENTS_A_PAGE else None
    out.table(
        {"events": [event_body(record) for record in page], "before": more},
        ("event", "at", "type", "by", "what"),
        (_event_row(record) for record in page),
    )
    if more and not out.as_json:
        out.tell(None, f"older ones: --before {more}")


def _event_row(record: LedgerRecord) -> tuple[object, ...]:
    behind = f" for {record.on_behalf_of}" if record.on_behalf_of else ""
    type_ = f"{record.type}, untrusted" if record.untrusted else record.type
    what = {"reason": record.reason, **record.changed}
    words = (
        _field_words(name, value) for name, value in what.items() if value not in (None, "", [])
    )
    return record.event_id, moment(record.at), type_, f"{record.by}{behind}", "; ".join(words)


def _field_words(name: str, value: object) -> str:
    return f"{name}: {listed(value) if isinstance(value, list) else value}"
