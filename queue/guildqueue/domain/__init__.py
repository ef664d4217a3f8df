"""What the queue means, in plain values: no clock, no I/O, standard library only."""
