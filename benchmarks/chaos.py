"""20,000 jobs for 8 processes that are killed and stopped, on a server that is restarted.

CHAOS_SEED chooses another run. The diaries and logs of one that broke a promise are kept.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent


def run() -> None:
    """Print what happened; raises SystemExit if a promise was broken."""
    seed = os.environ.get("CHAOS_SEED") or str(time.time_ns() % 1_000_000)
    folder = Path(tempfile.mkdtemp(prefix="guildqueue-chaos-"))
    print(f"\nChaos, seed {seed}", flush=True)
    # A process of its own: it has a server of its own, which must be able to go away.
    words = [sys.executable, "-m", "tests.chaos", "--full", "--seed", seed, str(folder / "run")]
    done = subprocess.run(words, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"the run broke off; what is left of it is in {folder}")
    seen = json.loads(done.stdout)
    show(seen)
    if seen["violations"]:
        raise SystemExit(f"{json.dumps(seen['violations'], indent=1)}\nall of it is in {folder}")
    shutil.rmtree(folder)


def show(seen: dict[str, Any]) -> None:
    """The figures, a line each."""
    for harm, times in seen["happened"].items():
        print(f"{harm:36}{times:8}")
    caps = ", ".join(f"{most} of {cap}" for cap, most in seen["caps"].values())
    figures = {
        "jobs": seen["jobs"],
        "processes": seen["processes"],
        "claims": seen["claims"],
        **{f"ended {state}": n for state, n in seen["ended"].items()},
        **{f"refused, {reason}": n for reason, n in seen["refused"].items()},
        "begun too late, seen in diaries": seen["late"],
        "of them refused, none accepted": seen["late_refused"],
        "answers that a restart or kill cost": seen["unanswered"],
        "failures with another try": seen["retries"],
        "looks at caps": seen["looks_at_caps"],
    }
    for what, figure in figures.items():
        print(f"{what:36}{figure:8}")
    print(f"{'most at once of each cap':36}{caps}")
    print(f"{'seconds':36}{seen['took_s']:8}")
