"""Claims beside the peers and beside the database's own limit: see docs/benchmarks.md."""
