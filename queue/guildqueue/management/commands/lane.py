"""``manage.py lane``: a queue kept as a text file, on a host without a database."""

import json
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from guildqueue.domain.errors import InvalidInput, QueueError
from guildqueue.domain.lane import Standing
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_text import QueueUnreadable
from guildqueue.management.account import account_caller
from guildqueue.management.asker import command_asker
from guildqueue.management.ending import Broken, Misused, one_line
from guildqueue.management.lane_words import item_json, item_line, outcome_lines
from guildqueue.services.list_items import list_items
from guildqueue.services.push_item import push_bumped, push_item
from guildqueue.services.request_item import bump_item, unbump_item
from guildqueue.services.settle_item import settle_item

OUTCOMES = (Standing.DONE, Standing.DEAD, Standing.CANCELLED)
MAX_REASON = 1000  # characters


class Refused(CommandError):
    """A rule or the grant does not allow it; without a database that is exit 1."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text), returncode=1)


class Command(BaseCommand):
    help = "A queue kept in DIR/queue.txt: what runs next, who said so, and what is done."
    # Nothing here needs a database, so nothing may look for one.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dir", type=Path, metavar="DIR", help="the folder; always needed")
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        _add_list(verbs.add_parser("list", help="the queue in the order in which it will run"))
        _add_json(verbs.add_parser("next", help="the item that would run now, if any"))
        _add_push(verbs.add_parser("push", help="put an item at the end of the queue"))
        for name, meaning in (("bump", "run an item next"), ("unbump", "take that back")):
            verb = verbs.add_parser(name, help=meaning)
            verb.add_argument("slug", metavar="SLUG")
            _add_asking(verb)
        settle = verbs.add_parser("settle", help="say how an item ended")
        settle.add_argument("slug", metavar="SLUG")
        settle.add_argument("outcome", choices=[outcome.value for outcome in OUTCOMES])
        _add_json(settle)

    def handle(self, *, verb: str, dir: Path | None, **options: Any) -> None:  # noqa: A002
        if dir is None:
            raise Misused("the folder of the queue is needed: --dir DIR")
        with _ended_in_one_line():
            getattr(self, f"handle_{verb}")(dir, **options)

    def handle_list(self, folder: Path, *, all: bool, json: bool, **_: Any) -> None:  # noqa: A002
        found = list_items(folder)
        shown = [item for item in found.items if all or item.job.is_unfinished]
        self._warn(found.faults)
        if json:
            self._say_json({"jobs": [item_json(item) for item in shown], "faults": found.faults})
            return
        for item in shown:
            self.stdout.write(item_line(item))
        if len(shown) < len(found.items):
            self.stdout.write(f"and {len(found.items) - len(shown)} finished")
        elif not shown:
            self.stdout.write("nothing is in the queue")

    def handle_next(self, folder: Path, *, json: bool, **_: Any) -> None:
        found = list_items(folder)
        self._warn(found.faults)
        if json:
            self._say_json({"job_id": found.next})
        elif found.next is not None:
            self.stdout.write(found.next)

    def handle_push(self, folder: Path, *, slug: str, needs: list[str], **options: Any) -> None:
        if options["bump"]:
            caller, asker = account_caller(), command_asker(options["source"])
            outcome = push_bumped(
                folder,
                slug=slug,
                needs=needs,
                asker=asker,
                reason=options["reason"],
                correlation_id=caller.correlation_id,
            )
            self._tell("pushed", outcome, as_json=options["json"])
            return
        if options["source"] or options["reason"]:
            raise Misused("push: --source and --reason say who bumps and why; give --bump too")
        created = push_item(folder, slug=slug, needs=needs)
        if options["json"]:
            self._say_json({"job_id": slug, "created": created})
        else:
            self.stdout.write(f"pushed {slug}" if created else f"{slug} is there already")

    def handle_bump(self, folder: Path, *, slug: str, **options: Any) -> None:
        outcome = bump_item(folder, slug=slug, **_asking(options))
        self._tell("bumped", outcome, as_json=options["json"])

    def handle_unbump(self, folder: Path, *, slug: str, **options: Any) -> None:
        outcome = unbump_item(folder, slug=slug, **_asking(options))
        self._tell("un-bumped", outcome, as_json=options["json"])

    def handle_settle(self, folder: Path, *, slug: str, outcome: str, json: bool, **_: Any) -> None:
        by = account_caller().principal
        changed = settle_item(folder, slug=slug, outcome=Standing(outcome), by=by)
        if json:
            self._say_json({"job_id": slug, "state": outcome, "changed": changed})
        else:
            self.stdout.write(f"{slug} is {outcome}{'' if changed else ' already'}")

    def _tell(self, done: str, outcome: LaneOutcome, *, as_json: bool) -> None:
        """Print what became of a request. Raises Refused."""
        if as_json:
            self._say_json(outcome.as_json())
        if not outcome.accepted:
            raise Refused(outcome.note)
        if not as_json:
            self.stdout.write("\n".join(outcome_lines(done, outcome)))

    def _say_json(self, content: object) -> None:
        self.stdout.write(json.dumps(content))

    def _warn(self, faults: tuple[str, ...]) -> None:
        for fault in faults:
            self.stderr.write(one_line(fault))


def _add_list(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="the finished items too")
    _add_json(parser)


def _add_push(parser: ArgumentParser) -> None:
    parser.add_argument("slug", metavar="SLUG")
    parser.add_argument("needs", nargs="*", metavar="NEEDED", help="items that must be done before")
    parser.add_argument("--bump", action="store_true", help="and run it next; needs the grant")
    _add_asking(parser)


def _add_asking(parser: ArgumentParser) -> None:
    parser.add_argument("--source", metavar="NAME", help="the declared automation that asks")
    parser.add_argument("--reason", type=_reason, default="", metavar="TEXT", help="why")
    _add_json(parser)


def _add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the answer as JSON")
    # The folder may also be named behind the verb.
    parser.add_argument("--dir", type=Path, default=SUPPRESS, help=SUPPRESS)


def _reason(text: str) -> str:
    if len(text) > MAX_REASON:
        raise ArgumentTypeError(f"longer than {MAX_REASON} characters")
    return text


def _asking(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "asker": command_asker(options["source"]),
        "reason": options["reason"],
        "correlation_id": account_caller().correlation_id,
    }


@contextmanager
def _ended_in_one_line() -> Iterator[None]:
    """Turn whatever the inside raises into the command's last line."""
    try:
        yield
    except InvalidInput as error:
        raise Misused(str(error)) from error
    except QueueUnreadable as error:
        raise Broken(str(error)) from error
    except QueueError as error:
        raise Refused(str(error)) from error
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise Broken(told) from error
