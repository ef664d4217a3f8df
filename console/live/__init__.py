"""Pages that stay open: one hub a process reads what changed once and sends it to all of them."""
