"""Run the console and the worker until Ctrl+C: ``python -m console.running``."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.db import Error

from console.running.children import die_with
from console.running.parent import PortTaken, run


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    if "MAKELEVEL" in os.environ:
        die_with(os.getppid())
    try:
        return run()
    except (ImproperlyConfigured, PortTaken, CommandError, Error) as error:
        print(" ".join(str(error).split()), file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 0


sys.exit(main())
