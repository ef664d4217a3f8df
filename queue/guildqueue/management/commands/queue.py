"""``manage.py queue``: everything about the queue that needs no browser."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from guildqueue.management.ending import ended_in_one_line
from guildqueue.management.output import Output
from guildqueue.management.subcommands import (
    adding,
    ending_jobs,
    guilds,
    importing,
    ordering,
    pausing,
    pruning,
    reading,
    running_next,
    serving_agents,
    tokens,
    verifying,
    working,
)

GROUPS = (
    reading,
    working,
    adding,
    importing,
    ordering,
    running_next,
    pausing,
    ending_jobs,
    guilds,
    tokens,
    verifying,
    pruning,
    serving_agents,
)


class Command(BaseCommand):
    help = "See and change the queue. Having the database is the authority."
    # They import all of the console, and a script may call us a thousand times.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        subparsers = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for group in GROUPS:
            group.add_subcommands(subparsers)

    def handle(self, **options: Any) -> None:
        # A name that the terminal's encoding lacks is shown escaped, and is no error.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            with ended_in_one_line():
                options["run"](Output(self.stdout, options["json"]), options)
                self.stdout.flush()
        except BrokenPipeError:
            # The reader has seen enough (`| head`); what is left is for nobody.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
