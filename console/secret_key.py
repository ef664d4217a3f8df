"""The installation's own secret: made once, kept in the data directory for its owner alone."""

import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def installation_secret(data_dir: Path) -> str:
    """The key in ``data_dir``/secret-key, made at the first call.

    Processes that start together all get the one that was linked first.
    """
    path = data_dir / "secret-key"
    try:
        if not path.exists():
            _create(path)
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeError) as error:
        raise ImproperlyConfigured(
            f"no secret key: {path} cannot be made or read ({error}); "
            "set GUILDQUEUE_SECRET_KEY or a GUILDQUEUE_DATA_DIR that can be written"
        ) from error
    if len(key) < 50:
        raise ImproperlyConfigured(f"{path} is damaged: remove it, and everybody signs in again")
    return key


def _create(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".secret-key-")  # mode 600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(60))
        # A hard link never replaces, so the first of several processes wins and no reader
        # ever sees half a key.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
