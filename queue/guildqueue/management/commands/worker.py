"""``manage.py worker``: take jobs from the queue and do them."""

import os
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from guildqueue.domain.ids import GuildId
from guildqueue.management.account import worker_principal
from guildqueue.management.arguments import add_guild, chosen_guilds
from guildqueue.management.ending import Broken, Misused, ended_in_one_line
from guildqueue.services.browse import guild_record
from guildqueue.worker import WORKING
from guildqueue.worker.handler import WorkerUnfit
from guildqueue.worker.loop import Worker
from guildqueue.worker.outage import AWAY, Outage
from guildqueue.worker.plan import WorkerPlan
from guildqueue.worker.process import handler_environment
from guildqueue.worker.schema import refuse_old_schema
from guildqueue.worker.signals import StopSignals


class Command(BaseCommand):
    help = "Take jobs from the queue and do them, until asked to stop (SIGTERM or Ctrl+C)."
    # The others import all of the console, a quarter of what a worker would keep in memory.
    requires_system_checks = (WORKING,)

    def add_arguments(self, parser: CommandParser) -> None:
        add_guild(parser, meaning="only jobs of this guild, repeatable (default: of all)")
        _add_kinds(parser)
        parser.add_argument(
            "--concurrency", type=_up_to(64), default=1, metavar="N", help="jobs at a time (1)"
        )
        parser.add_argument(
            "--batch",
            type=_up_to(1000),
            default=1,
            metavar="N",
            help="jobs to claim at once for each of these, done one after the other (1)",
        )
        parser.add_argument(
            "--once", action="store_true", help="do what is claimable now, then end"
        )

    def handle(self, **options: Any) -> None:
        with ended_in_one_line(), StopSignals() as signals:
            guilds = chosen_guilds(options["guilds"])
            kinds = _kinds(options["kinds"])
            if not _database_ready(guilds, signals, once=options["once"]):
                return
            plan = WorkerPlan(
                principal=worker_principal(),
                handlers={kind: settings.QUEUE_HANDLERS[kind] for kind in kinds},
                environment=_environment(options["concurrency"]),
                ttl_s=settings.QUEUE_LEASE_SECONDS,
                poll_s=settings.QUEUE_POLL_SECONDS,
                grace_s=settings.QUEUE_STOP_GRACE_SECONDS,
                concurrency=options["concurrency"],
                batch=options["batch"],
                guilds=guilds,
                once=options["once"],
            )
            try:
                Worker(plan, signals).run()
            except WorkerUnfit as error:
                raise Broken(f"this worker cannot work: {error}") from error


def _add_kinds(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--kinds",
        nargs="+",
        action="extend",
        metavar="KIND",
        help="only jobs of these kinds (default: all that have a handler)",
    )


def _kinds(given: Sequence[str] | None) -> list[str]:
    known = list(settings.QUEUE_HANDLERS)
    wanted = [kind for word in given or known for kind in word.split(",") if kind]
    for kind in wanted:
        if kind not in known:
            raise Misused(f"--kinds: {kind!r} is not one of {', '.join(known)}")
    return list(dict.fromkeys(wanted))


def _up_to(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:5]) <= most:
            raise ArgumentTypeError(f"{text[:40]!r} is not a number from 1 to {most}")
        return int(text)

    return number


def _environment(concurrency: int) -> dict[str, str]:
    extra = {**settings.QUEUE_HANDLER_ENVIRONMENT, "GUILDQUEUE_CONCURRENCY": str(concurrency)}
    return handler_environment(os.environ, extra)


def _database_ready(guilds: Sequence[GuildId], signals: StopSignals, *, once: bool) -> bool:
    """True once the database answers and is fit; False if asked to stop while it is away.

    With ``once`` a database that is away is an error at once. Raises SchemaBehind, GuildNotFound.
    """
    outage = Outage(cap_s=5.0)
    while signals.read() == 0:
        try:
            refuse_old_schema()
            for guild_id in guilds:
                guild_record(guild_id)
        except AWAY as error:
            if once:
                raise
            outage.note(error, time.monotonic())
            signals.wait(outage.retry_at - time.monotonic())
        else:
            outage.end()
            return True
    return False
