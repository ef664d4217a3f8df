"""The console's settings, with a handler that does nothing. For workers under measurement alone."""

from console.settings import *  # noqa: F403

QUEUE_HANDLERS = {"transcribe": "benchmarks.claims.noop.run"}
