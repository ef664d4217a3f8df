"""Run the console and the worker until Ctrl+C: ``python -m console.running``."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.db import Error

from console.running.above import MakeAbove
from console.running.parent import PortTaken, run


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    try:
        return run(MakeAbove())
    except (ImproperlyConfigured, PortTaken, CommandError, Error) as error:
        print(" ".join(str(error).split()), file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 0


sys.exit(main())
