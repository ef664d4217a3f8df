"""How styles and scripts are stored for serving: each under a name that changes with it."""

import re
from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # has no types
    """Also the modules that a module imports, or a page could mix those of two releases."""

    support_js_module_import_aggregation = True

    def url_converter(
        self, name: str, hashed_files: dict[str, Any], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        # Only our own scripts import each other; in others' an import may stand in a comment.
        if name.endswith(".js") and not name.startswith("js/"):
            return re.Match.group
        converter: Callable[[re.Match[str]], str] = super().url_converter(
            name, hashed_files, template
        )
        return converter
