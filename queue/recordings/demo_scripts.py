"""What is said in the demo's meetings: scripts put together from templates, the same every time."""

import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """What one speaker says in one go."""

    speaker: str
    text: str


def titles() -> tuple[str, ...]:
    """The kinds of meeting that there are words for."""
    return tuple(meeting["title"] for meeting in _book()["meeting"])


def compose(title: str, speakers: Sequence[str], *, seed: int) -> tuple[Line, ...]:
    """A meeting of that kind in which each of ``speakers`` says something; the first is the chair.

    The same arguments always give the same words. Raises KeyError for an unknown title.
    """
    meeting = next((m for m in _book()["meeting"] if m["title"] == title), None)
    if meeting is None:
        raise KeyError(title)
    luck = random.Random(f"{title}:{seed}")  # noqa: S311  (words of a demo, no secret)
    slots = {name: luck.choice(values) for name, values in sorted(_book()["slots"].items())}
    topics: list[list[str]] = luck.sample(meeting["topics"], k=len(meeting["topics"]))
    topics.insert(luck.randrange(len(topics)), luck.choice(_book()["aside"])["lines"])
    table = speakers[1:] or speakers
    spoken = [Line(speakers[0], text) for text in meeting["opening"]]
    spoken += _round_the_table(speakers[0], table, topics)
    spoken += [Line(speakers[0], text) for text in meeting["closing"]]
    return tuple(Line(line.speaker, line.text.format(**slots)) for line in spoken)


def _round_the_table(
    chair: str, table: Sequence[str], topics: Sequence[Sequence[str]]
) -> Iterator[Line]:
    """Every topic is opened by the chair or by the next one, so that all of them get to speak."""
    turn = 0
    for number, topic in enumerate(topics):
        for place, text in enumerate(topic):
            if place == 0 and number % 2 == 0:
                yield Line(chair, text)
                continue
            yield Line(table[turn % len(table)], text)
            turn += 1


@cache
def _book() -> dict[str, Any]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
