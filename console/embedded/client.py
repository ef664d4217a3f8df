"""``manage.py dbshell`` on the embedded server, with the psql that came with it."""

import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

from django.db.backends.postgresql import client

from console.embedded import server


class DatabaseClient(client.DatabaseClient):
    """Starts the server if need be; no password, as only who may enter its socket may connect."""

    def runshell(self, parameters: Iterable[str]) -> None:
        settings = self.connection.settings_dict
        info = server.ensure_running(Path(settings["EMBEDDED_DATA_DIR"]))
        address = ["-h", str(info.socket_dir), "-p", str(info.port), "-U", info.user]
        database = str(settings["NAME"] or info.database)
        # Ctrl+C ends the statement that psql runs, not this process around it.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            subprocess.run(
                [str(server.program("psql")), *address, *parameters, database], check=True
            )
        finally:
            signal.signal(signal.SIGINT, before)
