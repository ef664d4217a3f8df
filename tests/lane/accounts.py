"""Requests of other operating-system accounts: processes that are theirs before they ask."""

import json
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
# Everything is imported as root: another account may have no right to read the interpreter's.
PROGRAM = """
import json, os, sys
from dataclasses import asdict
from pathlib import Path
from guildqueue.domain.errors import QueueError
from guildqueue.domain.grant import judge
from guildqueue.domain.lane import Standing
from guildqueue.management.asker import command_asker
from guildqueue.services.push_item import push_bumped, push_item
from guildqueue.services.request_item import bump_item, unbump_item
from guildqueue.services.settle_item import settle_item
from guildqueue.store.grant_files import read_guild_declaration
uid, gid, folder, verb, slug, source = json.loads(sys.argv[1])
os.setgroups([]), os.setgid(gid), os.setuid(uid)
folder, asker = Path(folder), command_asker(source)
try:
    match verb:
        case "bump":
            told = bump_item(folder, slug=slug, asker=asker).as_json()
        case "unbump":
            told = unbump_item(folder, slug=slug, asker=asker).as_json()
        case "push --bump":
            told = push_bumped(folder, slug=slug, asker=asker).as_json()
        case "push":
            told = {"accepted": push_item(folder, slug=slug)}
        case "settle":
            settled = settle_item(
                folder, slug=slug, outcome=Standing.DONE, by=asker.principal)
            told = {"accepted": settled}
        case "judge":
            verdict = judge(read_guild_declaration(folder), asker)
            told = {"by": str(verdict.principal), "note": verdict.refusal}
except (QueueError, OSError) as error:
    told = {"raised": type(error).__name__, "note": str(error)}
print(json.dumps(told))
"""


@dataclass(frozen=True)
class Account:
    """An account of this machine; ``name`` is "" for a number that has none."""

    uid: int
    gid: int
    name: str = ""

    def asks(
        self,
        folder: Path,
        verb: str,
        slug: str = "",
        *,
        source: str | None = None,
        env: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """What a process of this account is told."""
        request = json.dumps([self.uid, self.gid, str(folder), verb, slug, source])
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, request],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(PROJECT / "queue")} | (env or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def owns(self, *paths: Path) -> None:
        for path in paths:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def account(name: str) -> Account:
    """An account that the machine has; skips where it has none, or where we are not root."""
    if os.getuid() != 0:
        pytest.skip("only root can be other accounts")
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        pytest.skip(f"this machine has no account {name}")
    return Account(found.pw_uid, found.pw_gid, name)


def nameless() -> Account:
    """A number that no account has."""
    if os.getuid() != 0:
        pytest.skip("only root can be other accounts")
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    uid = next(number for number in range(54_321, 60_000) if number not in taken)
    return Account(uid, uid)
