"""Run the benchmarks named, or all of them, on a database of their own.

``claims``, named alone, takes options: ``python -m benchmarks claims --help``.
"""

import logging
import os
import sys
import tempfile
from importlib import import_module

from benchmarks.claims.command import main as claims

SUITES = ("moves", "lane", "pages", "live_fanout", "browser", "large_queue", "chaos")


def main(names: list[str]) -> int:
    """Exit status: 2 for an unknown name, else 0. Figures go to standard output."""
    if names[:1] == ["claims"]:
        return claims(names[1:])
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(
            f"no benchmark {', '.join(unknown)}; known: {', '.join(SUITES)}, claims",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="guildqueue-bench-") as folder:
        os.environ["GUILDQUEUE_DATA_DIR"] = folder
        os.environ.setdefault("GUILDQUEUE_LOG_FORMAT", "json")
        os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings"
        _run(names or list(SUITES))
    return 0 if names else claims([])


def _run(names: list[str]) -> None:
    # Settings are read at import, so nothing of Django may be imported before they are set.
    import django  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415

    django.setup()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    for name in names:
        import_module(f"benchmarks.{name}").run()
    connections.close_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
