"""Which account the embedded server runs as: ours, or an ordinary one when we are root."""

import functools
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Account:
    """An operating-system account that can run PostgreSQL, which refuses to run as root."""

    uid: int
    gid: int

    def own(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)

    def run(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """``command`` as this account, from / and without our environment's PG* and secrets."""
        prefix, keywords = self._privileges()
        return subprocess.run(
            [*prefix, *command],
            check=False,
            text=True,
            cwd="/",
            env=_environment() | options.pop("env", {}),
            start_new_session=True,
            **keywords,
            **options,
        )

    def _privileges(self) -> tuple[list[str], dict[str, Any]]:
        if os.geteuid() != 0:
            return [], {}
        prefix = _setpriv(self.uid, self.gid)
        if prefix:
            return prefix, {}
        return [], {"user": self.uid, "group": self.gid, "extra_groups": []}


def account_for(cluster: Path) -> Account:
    """Us; when we are root, the owner of ``cluster``, else the host's least account."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    if cluster.exists() and cluster.stat().st_uid != 0:
        owner = cluster.stat()
        return Account(owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    return Account(65534, 65534)


@functools.cache
def _setpriv(uid: int, gid: int) -> list[str]:
    """The words that drop root but keep the right to pass folders only root may enter.

    With that right no folder above the data directory needs another mode. Empty where
    setpriv is missing, too old, or not allowed to do it.
    """
    program = shutil.which("setpriv")
    if program is None:
        return []
    kept = "-all,+dac_override"
    words = [program, f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    words += [f"--inh-caps={kept}", f"--ambient-caps={kept}"]
    tried = subprocess.run([*words, "true"], check=False, capture_output=True, cwd="/")
    return words if tried.returncode == 0 else []


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {"PATH": os.defpath} | kept | {"LC_ALL": "C", "TZ": "UTC"}
