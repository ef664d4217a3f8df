"""The Django database backend ``console.embedded``: PostgreSQL, started at the first use."""

from pathlib import Path
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.utils import OperationalError

from console.embedded import server
from console.embedded.client import DatabaseClient


class DatabaseWrapper(base.DatabaseWrapper):
    """Connects to the server of settings' EMBEDDED_DATA_DIR; nothing starts before that."""

    client_class = DatabaseClient

    def get_connection_params(self) -> dict[str, Any]:
        info = self._server()
        place = {"host": str(info.socket_dir), "port": str(info.port), "user": info.user}
        params: dict[str, Any] = super().get_connection_params()
        return params | place

    def get_new_connection(self, conn_params: Any) -> Any:
        # A pool has its parameters for good, so only here can it notice that the server died.
        self._server()
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            self._server(recheck=True)
            return super().get_new_connection(conn_params)

    def _server(self, *, recheck: bool = False) -> server.ConnectionInfo:
        data_dir = Path(self.settings_dict["EMBEDDED_DATA_DIR"])
        try:
            return server.recheck(data_dir) if recheck else server.ensure_running(data_dir)
        except server.EmbeddedServerError as error:
            raise OperationalError(str(error)) from error
