"""Turns a list of real meetings (``meetings.jsonl``) into the JSON lines that an import reads.

Usage: python benchmarks/ami_sessions.py meetings.jsonl > sessions.jsonl
       python manage.py queue import -g 118000000000000001 sessions.jsonl

The input has one meeting a line, ``{"meeting": …, "speakers": {name: seconds}}``. The output
has one session a line with a track a speaker, its length and no audio.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


def sessions(lines: Iterable[str]) -> Iterator[str]:
    """One session a meeting, in the same order, each on a line."""
    for line in lines:
        meeting = json.loads(line)
        speakers = meeting["speakers"]
        session = {
            "title": meeting["meeting"],
            "external_id": meeting["meeting"],
            "participants": list(speakers),
            "tracks": [{"name": name, "audio_seconds": s} for name, s in speakers.items()],
        }
        yield json.dumps(session, ensure_ascii=False)


def main() -> None:
    """Convert the file that the command line names, to standard output."""
    if len(sys.argv) != 2:
        sys.exit("usage: ami_sessions.py meetings.jsonl > sessions.jsonl")
    with Path(sys.argv[1]).open(encoding="utf-8") as meetings:
        for session in sessions(line for line in meetings if line.strip()):
            print(session)


if __name__ == "__main__":
    main()
