"""The JavaScript tests, with the system's node or Playwright's own (``-m tests.javascript``)."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent / "js"


def find_node() -> str | None:
    """A node of version 20 or newer, or None."""
    candidates = [shutil.which("node")]
    spec = find_spec("playwright")
    if spec is not None and spec.origin is not None:
        candidates.append(str(Path(spec.origin).parent / "driver" / "node"))
    return next((node for node in candidates if node and _major(node) >= 20), None)


def main() -> int:
    tests = sorted(str(path) for path in FOLDER.rglob("*.test.*js"))
    if not tests:
        print("There are no JavaScript tests.")  # noqa: T201
        return 0
    node = find_node()
    if node is None:
        print(  # noqa: T201
            "The JavaScript tests did not run: they need node 20 or newer.", file=sys.stderr
        )
        return 1
    # Files, not the folder: node 22 takes a folder's name for a module.
    return subprocess.run([node, "--test", *tests], check=False).returncode


def _major(node: str) -> int:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
        return int(said.stdout.lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
