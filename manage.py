"""Django's command line for Guild Queue."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import InterfaceError, OperationalError


def main() -> int:
    """The exit code: 1 with one line for a bad setting or a database that is away."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, InterfaceError, OperationalError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
