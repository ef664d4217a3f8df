"""Whether the database has the tables that this release works with."""

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


class SchemaBehind(Exception):
    """The database lacks migrations of this release; a newer one may have applied more."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        super().__init__(
            f"the database lacks {len(missing)} migrations, from {missing[0]}: "
            "run manage.py migrate first"
        )


def refuse_old_schema() -> None:
    """Raises SchemaBehind, or the database's own error while it is away."""
    applied = MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations()
    known = MigrationLoader(None).disk_migrations or {}
    missing = sorted(".".join(key) for key in known if key not in applied)
    if missing:
        raise SchemaBehind(missing)
