"""Settings of a test run: its own data directory, so that a running console is left alone."""

import os
import tempfile
from pathlib import Path

_ours = ("DATABASE_", "GUILDQUEUE_", "QUEUE_", "WHISPER_", "WORKERS", "PORT")
for _name in [name for name in os.environ if name.startswith(_ours)]:
    del os.environ[_name]

RUN_DIR = Path(tempfile.mkdtemp(prefix="guildqueue-tests-"))
os.environ["GUILDQUEUE_DATA_DIR"] = str(RUN_DIR / "data")
if os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]

from console.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Styles and scripts straight from static/: nothing was collected for a test run.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = True
