"""The `make` above the parent: its end, and an interrupt that it keeps to itself, are ours too."""

import os
import signal
from pathlib import Path

from console.running.children import die_with


class MakeAbove:
    """Watches the make that started this process; does nothing where none did."""

    def __init__(self) -> None:
        self._pid = os.getppid() if "MAKELEVEL" in os.environ else None
        if self._pid is not None:
            die_with(self._pid)
        self._caught_interrupts = self._catches_interrupts()

    def was_interrupted(self) -> bool:
        """True once make got a SIGINT of its own, which it does not pass on.

        make counts on the terminal to send Ctrl+C to all and then waits for us. It puts the
        signal's handling back to the default first, and that can be seen.
        """
        return self._caught_interrupts and not self._catches_interrupts()

    def _catches_interrupts(self) -> bool:
        try:
            lines = Path(f"/proc/{self._pid}/status").read_text("ascii", "replace").splitlines()
        except OSError:
            return False
        caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
        return bool(int(caught, 16) >> (signal.SIGINT - 1) & 1)
