"""A queue kept as text: one item a line, ``slug`` or ``slug: needed-slug needed-slug``."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from guildqueue.domain.errors import shortened
from guildqueue.domain.lane import LaneJob
from guildqueue.domain.lane_graph import find_ring
from guildqueue.domain.lane_refusals import LaneRefusal, LaneRefused, spelled_ring

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SLUG_RULE = "letters, digits, '.', '_' and '-', at most 100, the first a letter or digit"


class QueueUnreadable(LaneRefused):
    """The queue's text, or one line of it, means nothing; ``line`` counts from 1."""

    refusal = LaneRefusal.QUEUE_UNREADABLE

    def __init__(self, line: int | None, fault: str) -> None:
        self.line = line
        self.fault = fault
        super().__init__(f"queue.txt{'' if line is None else f' line {line}'}: {fault}")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the queue; ``line`` counts from 1."""

    slug: str
    needs: tuple[str, ...]
    line: int


def parse_queue(content: bytes) -> dict[str, Item]:
    """The items by slug, in the order of the lines. Raises QueueUnreadable for the first fault."""
    items: dict[str, Item] = {}
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").partition("#")[0].strip()
        except UnicodeDecodeError as error:
            raise QueueUnreadable(number, f"not text (byte {error.start + 1})") from error
        if text:
            item = _parse_item(text, number)
            if item.slug in items:
                first = items[item.slug].line
                raise QueueUnreadable(number, f"{item.slug} is on line {first} already")
            items[item.slug] = item
    return items


def _parse_item(text: str, line: int) -> Item:
    head, colon, tail = text.partition(":")
    slug, needs = head.strip(), tuple(dict.fromkeys(tail.split()))
    for word in (slug, *needs):
        if not SLUG.fullmatch(word):
            hint = "" if colon or " " not in word else "; what an item needs comes after a colon"
            raise QueueUnreadable(line, f"{shortened(word)} is not a slug ({SLUG_RULE}){hint}")
    return Item(slug, needs, line)


def spell_item(slug: str, needs: Iterable[str]) -> str:
    """The item's line, without its end."""
    needed = " ".join(needs)
    return f"{slug}: {needed}" if needed else slug


def find_faults(items: Mapping[str, Item], jobs: Mapping[str, LaneJob[str]]) -> list[str]:
    """Why items can never run, a line each; what is finished has no fault any more."""
    unknown = [
        f"queue.txt line {item.line}: {item.slug} needs {need}, which is not an item"
        for item in items.values()
        if jobs[item.slug].is_unfinished
        for need in item.needs
        if need not in items
    ]
    return unknown + [
        f"queue.txt line {items[ring[0]].line}: {spelled_ring(ring)}, so none of them can run"
        for ring in find_rings(jobs)
    ]


def find_rings(jobs: Mapping[str, LaneJob[str]]) -> list[tuple[str, ...]]:
    """Rings of unfinished items that share no item; without one of each there is no ring."""
    left = {slug for slug, job in jobs.items() if job.is_unfinished}
    rings = []
    while ring := find_ring(jobs, left):
        # From its first line on, so that a ring is always told the same way.
        start = ring.index(min(ring, key=lambda slug: jobs[slug].sort_key))
        rings.append((*ring[start:], *ring[:start]))
        left -= set(ring)
    return rings
