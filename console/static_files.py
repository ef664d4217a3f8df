"""How styles and scripts are stored for serving: each under a name that changes with it."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # has no types
    """Also the modules that a module imports, or a page could mix those of two releases."""

    support_js_module_import_aggregation = True
