"""``manage.py demo``: something to look at in a database that is empty."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.module_loading import import_string

from guildqueue.management.ending import ended_in_one_line
from guildqueue.worker.schema import refuse_old_schema


class Demo(Protocol):
    """What settings.QUEUE_DEMO names."""

    def __call__(
        self, *, media_root: Path, sign_ins: Path, url: str, say: Callable[[str], None]
    ) -> str:
        """Fill a database that is empty and no other; what was done, in a sentence.

        Who may sign in, and how, is then in the file ``sign_ins``.
        """


class Command(BaseCommand):
    help = "Fill an empty database with two demo guilds; change nothing in any other."
    requires_system_checks = ()

    def handle(self, **_options: Any) -> None:
        with ended_in_one_line():
            refuse_old_schema()
            demo: Demo = import_string(settings.QUEUE_DEMO)
            done = demo(
                media_root=Path(settings.MEDIA_ROOT),
                sign_ins=Path(settings.DATA_DIR) / "demo.json",
                url=f"http://127.0.0.1:{settings.PORT}",
                say=self.stdout.write,
            )
            self.stdout.write(done)
