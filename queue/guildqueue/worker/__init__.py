"""The worker: claims jobs, has handlers do them, writes what came of it."""

WORKING = "working"
"""The tag of the system checks that a worker makes before it begins."""
