"""``python -m tests.chaos [--full] [--seed N] FOLDER``: figures as JSON; exits 1 on a fault."""

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import django

from tests.chaos.place import Place
from tests.chaos.plan import FULL, SMALL


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("folder", type=Path, help="a new folder, which keeps diaries and logs")
    parser.add_argument("--full", action="store_true", help="20,000 jobs and 8 processes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    plan = replace(FULL if options.full else SMALL, seed=options.seed)
    options.folder.mkdir(parents=True)
    place = Place(options.folder / "data", durable=plan.durable)
    try:
        os.environ |= {
            "DATABASE_URL": place.url,
            "DJANGO_SETTINGS_MODULE": "tests.chaos.settings",
            "GUILDQUEUE_DATA_DIR": str(place.data_dir),
            "GUILDQUEUE_LOG_FORMAT": "json",
            "QUEUE_POLL_SECONDS": "0.05",
            "CHAOS_DIARIES": str(options.folder / "diaries"),
        }
        # Settings are read at import, so nothing of the queue may be imported before.
        django.setup()
        from tests.chaos.run import run  # noqa: PLC0415

        seen = run(plan, place, options.folder)
    finally:
        place.leave()
    json.dump(seen, sys.stdout, indent=1)
    return 1 if seen["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
