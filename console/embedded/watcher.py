"""The detached process that stops the embedded server when its last user is gone."""

import contextlib
import fcntl
import os
import signal
import sys
from pathlib import Path

from console.embedded import sockets
from console.embedded.cluster import Cluster, EmbeddedServerError


def main() -> None:
    """Arguments: the data directory, and the inherited descriptor that holds watcher.lock."""
    place, watcher_lock = Path(sys.argv[1]), int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A shutdown of the host ends the users; the server must still be stopped after them.
        signal.signal(number, signal.SIG_IGN)
    users_lock = os.open(place / "users.lock", os.O_RDONLY)
    fcntl.flock(users_lock, fcntl.LOCK_EX)
    with contextlib.suppress(EmbeddedServerError):
        Cluster(place).stop()
        sockets.discard(place)
    # In this order: whoever gets the users' lock next must see that there is no watcher.
    fcntl.flock(watcher_lock, fcntl.LOCK_UN)
    fcntl.flock(users_lock, fcntl.LOCK_UN)


if __name__ == "__main__":
    main()
