"""Whether the database has the tables that this release works with."""

import pkgutil
from importlib.util import find_spec

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
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
    missing = sorted(".".join(key) for key in known_migrations() if key not in applied)
    if missing:
        raise SchemaBehind(missing)


def known_migrations() -> set[tuple[str, str]]:
    """App label and name of all migrations of this release, none of which is imported.

    Django's own loader would keep every one of them in the worker's memory for good.
    """
    return {
        (config.label, module.name)
        for config in apps.get_app_configs()
        if (package := find_spec(f"{config.name}.migrations"))
        for module in pkgutil.iter_modules(package.submodule_search_locations)
        if not module.ispkg and not module.name.startswith(("_", "~"))
    }
