"""``manage.py dbshell`` reaches the embedded server, on a machine without a psql of its own."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection


@pytest.mark.django_db
def test_dbshell_reaches_the_embedded_server() -> None:
    if connection.vendor == "postgresql" and "EMBEDDED_DATA_DIR" not in connection.settings_dict:
        pytest.skip("this run is on a server of the caller's, which has a shell of its own")

    shell = subprocess.run(
        [sys.executable, "manage.py", "dbshell", "--", "-At", "-c", "SELECT 41 + 1"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (shell.stdout, shell.stderr, shell.returncode) == ("42\n", "", 0)
