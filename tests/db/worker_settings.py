"""Settings of a worker process in a test: handlers that need no model, times that are short."""

import os

from console.settings import *  # noqa: F403
from console.settings import QUEUE_HANDLER_ENVIRONMENT

QUEUE_HANDLERS = {
    "transcribe": "tests.db.worker_handlers.transcribe",
    "document": "tests.db.worker_handlers.document",
}
QUEUE_HANDLER_ENVIRONMENT = {**QUEUE_HANDLER_ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1"}
# Shorter than an installation may choose.
QUEUE_LEASE_SECONDS = float(os.environ.get("TEST_LEASE_SECONDS", "1.5"))
QUEUE_RETRY_BASE_SECONDS = 0.01
QUEUE_RETRY_CAP_SECONDS = 0.01
