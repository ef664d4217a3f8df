"""The demo's people: who signs in with which password, and the file that says so."""

import contextlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from guildqueue.domain.token import WORKER_VERBS
from guildqueue.services.membership import add_administrator
from guildqueue.services.tokens import issue_token
from recordings.demo_book import DemoGuild

# Read out and typed without a mistake: no l, 1, o or 0.
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_LENGTH = 16


def add_people(guilds: Sequence[DemoGuild]) -> list[dict[str, Any]]:
    """The sign-ins as the file has them: each guild's first administrator.

    The others administer it too, but cannot sign in: they have no password.
    """
    sign_ins = []
    for guild in guilds:
        first, *others = guild.administrators
        password = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        User.objects.create_user(first, password=password)
        for username in others:
            if not User.objects.filter(username=username).exists():
                User.objects.create_user(username)
        for username in guild.administrators:
            add_administrator(username, guild_id=guild.id)
        sign_ins.append(
            {
                "username": first,
                "password": password,
                "token": issue_token(f"demo token of {first}", username=first),
                "guilds": [str(guild.id)],
            }
        )
    return sign_ins


def add_worker(guilds: Sequence[DemoGuild]) -> str:
    """A token that may do all that a worker does, in every one of the guilds."""
    ids = [guild.id for guild in guilds]
    return issue_token("demo worker", guild_ids=ids, verbs=WORKER_VERBS)


def write_sign_ins(path: Path, content: Mapping[str, Any]) -> None:
    """Put the sign-ins at ``path``, whole or not at all, for this account's eyes alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  (a descriptor)
            json.dump(content, file, ensure_ascii=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def correct_address(path: Path, url: str) -> None:
    """Let the sign-ins at ``path`` say where the console is now, if there are any."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("url") != url:
            write_sign_ins(path, {**content, "url": url})
