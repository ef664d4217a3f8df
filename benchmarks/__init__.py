"""What the queue costs, measured beside its limits in one run."""
