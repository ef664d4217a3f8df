"""Settings of every process of a run: handlers that need no model, times that are short."""

from console.settings import *  # noqa: F403
from tests.chaos.plan import LEASE_S

QUEUE_HANDLERS = {"transcribe": "tests.chaos.handlers.run", "document": "tests.chaos.handlers.run"}
# Shorter than an installation may choose.
QUEUE_LEASE_SECONDS = LEASE_S
QUEUE_RETRY_BASE_SECONDS = 0.05
QUEUE_RETRY_CAP_SECONDS = 0.2
