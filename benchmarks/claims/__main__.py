"""``python -m benchmarks.claims``: as ``python -m benchmarks claims``, without the other suites."""

import sys

from benchmarks.claims.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
