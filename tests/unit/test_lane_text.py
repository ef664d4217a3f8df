"""The text of a queue: what its lines mean, and what is wrong with those that mean nothing."""

import pytest

from guildqueue.domain.lane import Standing
from guildqueue.domain.lane_text import Item, QueueUnreadable, find_faults, parse_queue, spell_item
from tests.lane_builders import queue_of


def test_items_come_in_the_order_of_their_lines_with_what_they_need() -> None:
    items = parse_queue(b"# a queue\n\nb\na: b c   # after both\n  c :  \n")

    assert list(items.values()) == [
        Item("b", (), 3),
        Item("a", ("b", "c"), 4),
        Item("c", (), 5),
    ]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing\n", b"\xef\xbb\xbf", b" \t\r\n"])
def test_a_text_without_items_is_an_empty_queue(content: bytes) -> None:
    assert parse_queue(content) == {}


def test_lines_of_other_systems_are_read() -> None:
    items = parse_queue(b"\xef\xbb\xbfa\r\nb: a\r\n\tc:\ta  b\n\nd")

    assert [(item.slug, item.needs) for item in items.values()] == [
        ("a", ()),
        ("b", ("a",)),
        ("c", ("a", "b")),
        ("d", ()),
    ]


def test_a_need_that_is_named_twice_is_one() -> None:
    assert parse_queue(b"a: b b")["a"].needs == ("b",)


@pytest.mark.parametrize("slug", ["a", "A.b_c-9", "1", "x" * 100])
def test_an_item_reads_as_it_was_spelled(slug: str) -> None:
    for needs in ((), ("b",), ("b", "c.d")):
        assert parse_queue(spell_item(slug, needs).encode()) == {slug: Item(slug, needs, 1)}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        pytest.param(b"a b", "'a b' is not a slug .* after a colon$", id="no-colon"),
        pytest.param(b": a", "'' is not a slug", id="no-slug"),
        pytest.param(b"a: b: c", "'b:' is not a slug", id="two-colons"),
        pytest.param(b"-a", "'-a' is not a slug", id="dash-first"),
        pytest.param(b"../a", "'../a' is not a slug", id="path"),
        pytest.param(b"a: b/c", "'b/c' is not a slug", id="needed-path"),
        pytest.param("ä".encode(), "is not a slug", id="letter"),
        pytest.param(b"x" * 101, "is not a slug", id="long"),
        pytest.param(b"a\0", "'a.x00' is not a slug", id="nul"),
        pytest.param(b"\x1b[2J", "is not a slug", id="escape"),
        pytest.param(b"a: \xff", r"not text \(byte 4\)", id="not-utf8"),
        pytest.param(b"x", "x is on line 1 already", id="twice"),
    ],
)
def test_a_line_that_means_nothing_is_told_with_its_number(line: bytes, told: str) -> None:
    with pytest.raises(QueueUnreadable, match=rf"^queue\.txt line 3: .*{told}") as caught:
        parse_queue(b"x\n# y\n" + line + b"\nz\n")

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_need_that_is_no_item_is_told_with_its_line() -> None:
    lines = ("a", "b: a lost", "c: gone")

    assert find_faults(parse_queue("\n".join(lines).encode()), queue_of(*lines)) == [
        "queue.txt line 2: b needs lost, which is not an item",
        "queue.txt line 3: c needs gone, which is not an item",
    ]


def test_every_ring_is_told_once_from_its_first_line_on() -> None:
    lines = ("x: c", "c: b", "b: a", "a: c", "self: self", "r: s", "s: r")

    assert find_faults(parse_queue("\n".join(lines).encode()), queue_of(*lines)) == [
        "queue.txt line 2: c needs b needs a needs c, so none of them can run",
        "queue.txt line 5: self needs self, so none of them can run",
        "queue.txt line 6: r needs s needs r, so none of them can run",
    ]


def test_what_is_finished_has_no_fault() -> None:
    lines = ("a: lost", "b: c", "c: b")
    jobs = queue_of(*lines, a=Standing.DONE, b=Standing.CANCELLED)

    assert find_faults(parse_queue("\n".join(lines).encode()), jobs) == []
