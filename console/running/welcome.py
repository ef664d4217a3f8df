"""What a person reads when everything runs: where to go, and how to sign in."""

import json
from pathlib import Path


def welcome(url: str, sign_ins: Path) -> str:
    """The words; ``sign_ins`` is the demo's file, there or not."""
    lines = ["", f"  Guild Queue is ready: {url}", ""]
    try:
        users = json.loads(sign_ins.read_text("utf-8"))["users"]
        lines += [f"  Sign in as {user['username']} with {user['password']}" for user in users]
        lines += ["", f"  (also in {sign_ins})"]
    except FileNotFoundError:
        lines += ["  Make a user with: .venv/bin/python manage.py createsuperuser"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        lines += [f"  The demo sign-ins in {sign_ins} cannot be read: {error}"]
    return "\n".join([*lines, "  Ctrl+C stops everything.", ""])
