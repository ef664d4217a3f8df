"""Django's command line for Guild Queue."""

import os
import secrets
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import InterfaceError, OperationalError


def main() -> int:
    """The exit code: 1 with one line for a bad setting or a database that is away."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    if sys.argv[1:2] == ["lane"]:
        # It signs nothing, and accounts that may not read the installation's key may ask.
        os.environ.setdefault("GUILDQUEUE_SECRET_KEY", secrets.token_urlsafe(60))
    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, InterfaceError, OperationalError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
