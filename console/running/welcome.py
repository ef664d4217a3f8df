"""What a person reads when everything runs: where to go, and how to sign in."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def welcome(url: str, sign_ins: Path) -> str:
    """The words; ``sign_ins`` is the demo's file, brought up to ``url`` on the way."""
    lines = ["", f"  Guild Queue is ready: {url}", ""]
    try:
        demo = json.loads(sign_ins.read_text("utf-8"))
        lines += [
            f"  Sign in as {user['username']} with {user['password']}" for user in demo["users"]
        ]
        lines += ["", f"  (also in {sign_ins})"]
        _move(demo, sign_ins, url)
    except FileNotFoundError:
        lines += ["  Make a user with: .venv/bin/python manage.py createsuperuser"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        lines += [f"  The demo sign-ins in {sign_ins} cannot be read: {error}"]
    return "\n".join([*lines, "  Ctrl+C stops everything.", ""])


def _move(demo: dict[str, Any], sign_ins: Path, url: str) -> None:
    """This start may have another port than the one that made the demo."""
    if demo.get("url") == url:
        return
    descriptor, draft = tempfile.mkstemp(dir=sign_ins.parent, prefix=".demo-")  # mode 600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(demo | {"url": url}, file, indent=2)
    Path(draft).replace(sign_ins)
