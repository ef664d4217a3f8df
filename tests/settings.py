"""Settings of a test run: its own data directory, so that a running console is left alone."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# One for each process of a run that is shared out, so that each has a server of its own.
_RUN_DIR_NAME = "TESTS_RUN_DIR" + os.environ.get("PYTEST_XDIST_WORKER", "").upper()


def _run_dir() -> Path:
    """The run's own folder: made here, or by the test run that started this process."""
    if _RUN_DIR_NAME not in os.environ:
        os.environ[_RUN_DIR_NAME] = tempfile.mkdtemp(prefix="guildqueue-tests-")
        atexit.register(_clean_up)
    return Path(os.environ[_RUN_DIR_NAME])


def _clean_up() -> None:
    from console.embedded import server  # noqa: PLC0415

    server.leave(RUN_DIR / "data")
    shutil.rmtree(RUN_DIR, ignore_errors=True)


# What the caller set for a console must not reach the tests.
_ours = ("DATABASE_", "GUILDQUEUE_", "QUEUE_", "WHISPER_", "WORKERS", "PORT")
for _name in [name for name in os.environ if name.startswith(_ours)]:
    del os.environ[_name]

RUN_DIR = _run_dir()
os.environ["GUILDQUEUE_DATA_DIR"] = str(RUN_DIR / "data")
if os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]

from console.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# So that a claim is exact at once; what the delay does has tests of its own.
QUEUE_OVERDUE_SECONDS = 0
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Styles and scripts straight from static/: nothing was collected for a test run.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = True
