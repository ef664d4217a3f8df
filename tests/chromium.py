"""The browser of the browser tests: find it, or get it (``python -m tests.chromium``)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> Path | None:
    """A Chromium of the system, else the one that Playwright downloaded, else None."""
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    root = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright")
    return next(iter(sorted(root.glob("chromium-*/chrome-linux*/chrome"), reverse=True)), None)


def main() -> int:
    if find_chromium() is None:
        print("No Chromium here: getting one for the browser tests.")  # noqa: T201
        _install()
    found = find_chromium()
    if found is None:
        print(  # noqa: T201
            "Chromium could not be installed, and the browser tests need it: "
            "install the package chromium and try again.",
            file=sys.stderr,
        )
        return 1
    print(f"Browser tests use {found}")  # noqa: T201
    return 0


def _install() -> None:
    is_root = os.geteuid() == 0
    if is_root and shutil.which("apt-get"):
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-q"], check=False, env=quiet)
        subprocess.run(
            ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"],
            check=False,
            env=quiet,
        )
    if find_chromium() is None:
        with_libraries = ["--with-deps"] if is_root else []
        words = [sys.executable, "-m", "playwright", "install", *with_libraries, "chromium"]
        subprocess.run(words, check=False)


if __name__ == "__main__":
    sys.exit(main())
