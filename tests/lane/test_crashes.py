"""A crash at any byte: what was recorded stays, what was not did not happen, nothing is in the way.

Some processes are killed while they write. That no byte is special is shown without processes, by
cutting a file at each.
"""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from guildqueue.services.list_items import list_items
from tests.conformance.file_lane import FileLane
from tests.conformance.protocol import lane_of
from tests.lane.writers import run_and_die, started

LOG = "priority.jsonl"


@pytest.fixture
def lane(folder: Path) -> FileLane:
    """``x``, ``d`` and ``a``, which needs ``d``; ``x`` is bumped."""
    made = FileLane(folder)
    made.bump("x", reason="größer")
    return made


def cut(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def test_wherever_the_last_record_is_cut_the_lane_is_the_one_before_it(lane: FileLane) -> None:
    before = (lane.folder / LOG).read_bytes()
    lane.bump("a")
    whole = (lane.folder / LOG).read_bytes()

    for end in range(len(before), len(whole) - 1):
        cut(lane.folder / LOG, whole[:end])
        assert lane_of(lane) == ["x"], whole[:end]
    cut(lane.folder / LOG, whole[:-1])  # only the line's end is missing: the record is whole
    assert lane_of(lane) == ["x", "d", "a"]


def test_wherever_the_last_record_is_cut_the_next_request_is_kept_whole(lane: FileLane) -> None:
    before = (lane.folder / LOG).read_bytes()
    lane.bump("a")
    whole = (lane.folder / LOG).read_bytes()

    for end in range(len(before) + 1, len(whole), 7):
        cut(lane.folder / LOG, whole[:end])
        assert lane.bump("d").accepted
        assert lane_of(lane)[:2] == ["x", "d"]
        # The torn text is where it was, on a line of its own.
        assert (lane.folder / LOG).read_bytes().startswith(whole[:end] + b"\n{")


def test_a_torn_record_is_told_of(lane: FileLane) -> None:
    lane.bump("a")
    whole = (lane.folder / LOG).read_bytes()
    cut(lane.folder / LOG, whole[:-20])

    [fault] = list_items(lane.folder).faults

    assert fault.startswith("priority.jsonl line 2 passed over")


@pytest.mark.parametrize("after_bytes", [0, 1, 100, 250])
@pytest.mark.parametrize("verb", ["bump", "unbump"])
def test_a_request_killed_while_it_is_recorded_did_not_happen(
    lane: FileLane, verb: str, after_bytes: int
) -> None:
    assert run_and_die(lane.folder, verb, "x" if verb == "unbump" else "a", after_bytes=after_bytes)

    assert lane_of(lane) == ["x"]
    # The lock went with the process, and the next record is whole.
    assert lane.bump("a").moved == ("d", "a")
    assert lane_of(lane) == ["x", "d", "a"]


@pytest.mark.parametrize("after_bytes", range(8))
def test_a_push_killed_at_any_byte_leaves_all_of_the_item_or_nothing(
    lane: FileLane, after_bytes: int
) -> None:
    # "#ew: d" and its end are seven bytes, the eighth makes it an item.
    was_killed = run_and_die(lane.folder, "push", "new", after_bytes=after_bytes)

    assert was_killed
    assert "new" not in lane.jobs()
    assert list_items(lane.folder).faults == ()
    lane.push("new", needs=["d"])
    lane.push("newer", needs=["new"])
    assert lane.order() == ["x", "d", "a", "new", "newer"]
    assert lane.jobs()["new"].needs == ("d",)


def test_a_push_that_is_not_killed_writes_eight_bytes(lane: FileLane) -> None:
    assert not run_and_die(lane.folder, "push", "new", after_bytes=8)

    assert lane.order() == ["x", "d", "a", "new"]
    assert (lane.folder / "queue.txt").read_text() == "x\nd\na: d\nnew: d\n"


@pytest.mark.parametrize("after_bytes", [3, 8, 60])
def test_a_push_ahead_killed_on_the_way_is_made_whole_by_repeating_it(
    lane: FileLane, after_bytes: int
) -> None:
    assert run_and_die(lane.folder, "push --bump", "new", after_bytes=after_bytes)
    assert lane_of(lane) == ["x"]

    answer = lane.push("new", needs=["d"], bump=True)

    assert answer.moved == ("d", "new")
    assert (lane.folder / "queue.txt").read_text().count("\nnew: d\n") == 1


@pytest.mark.parametrize("after_bytes", [0, 30])
def test_a_settling_killed_on_the_way_did_not_happen(lane: FileLane, after_bytes: int) -> None:
    assert run_and_die(lane.folder, "settle", "x", after_bytes=after_bytes)

    assert lane_of(lane) == ["x"]
    lane.settle("x", "done")
    assert lane_of(lane) == []


def test_a_queue_without_a_last_line_end_is_added_to_on_a_new_line(lane: FileLane) -> None:
    (lane.folder / "queue.txt").write_text("x\nd")

    lane.push("new", needs=["d"])

    assert (lane.folder / "queue.txt").read_text() == "x\nd\nnew: d\n"


def test_a_disk_that_is_full_refuses_and_the_next_request_finds_everything(
    lane: FileLane,
) -> None:
    size = (lane.folder / LOG).stat().st_size
    process = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(lane.folder), str(size + 25)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.stdout.strip() == str(errno.EFBIG), process.stderr
    assert (lane.folder / LOG).stat().st_size == size + 25
    assert lane_of(lane) == ["x"]
    assert lane.bump("a").accepted
    assert lane_of(lane) == ["x", "d", "a"]


# A limit on the size of files is the one full disk that a test can make.
FULL_DISK = f"""
import resource, sys
from pathlib import Path
from guildqueue.management.asker import command_asker
from guildqueue.services.request_item import bump_item
resource.setrlimit({resource.RLIMIT_FSIZE}, (int(sys.argv[2]), int(sys.argv[2])))
try:
    bump_item(Path(sys.argv[1]), slug="a", asker=command_asker())
except OSError as error:
    print(error.errno)
"""


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b'{"type": "Priori', id="torn"),
        pytest.param(b"\xff\xfe\x00\x01", id="binary"),
        pytest.param(b"[1, 2]", id="list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"changed": 1}', id="odd-changes"),
        pytest.param(b'{"changed": {"moved": "x", "removed": [1], "named": null}}', id="odd-lists"),
        pytest.param(b'{"type": "PriorityReviewed", "at": [], "x": {}}', id="newer-record"),
        pytest.param(b'{"changed": {"moved": ["\\ud800"]}}', id="half-a-pair"),
        pytest.param(b'{"changed": {"moved": ["no-such-item"]}}', id="item-that-is-gone"),
        pytest.param(b"[" * 100_000, id="nested"),
        pytest.param(b'{"n": ' + b"9" * 5000 + b"}", id="long-number"),
        pytest.param('{"reason": "a\u2028b\x85c"}'.encode(), id="other-line-ends"),
    ],
)
def test_no_line_of_a_log_is_in_the_way(lane: FileLane, junk: bytes) -> None:
    for name in (LOG, "settled.jsonl"):
        with (lane.folder / name).open("ab") as file:
            file.write(junk + b"\n")

    assert lane_of(lane) == ["x"]
    assert lane.bump("a").moved == ("d", "a")
    lane.settle("x", "done")
    assert lane_of(lane) == ["d", "a"]
    assert lane.unbump("a").accepted
    assert lane_of(lane) == []


def test_an_item_taken_out_of_the_text_leaves_the_lane_with_the_next_request(
    lane: FileLane,
) -> None:
    (lane.folder / "queue.txt").write_text("d\na: d\n")

    answer = lane.bump("a")

    assert answer.removed == ("x",)
    (lane.folder / "queue.txt").write_text("x\nd\na: d\n")
    assert lane_of(lane) == ["d", "a"]


def test_a_process_that_waits_for_a_killed_one_goes_on(lane: FileLane) -> None:
    with (lane.folder / "lane.lock").open("r+") as lock:
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER], stdin=lock, stdout=subprocess.PIPE
        )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"locked\n"
    waiting = started(lane.folder, "bump", "a")

    holder.kill()

    assert holder.wait(timeout=10) != 0
    assert waiting.communicate(timeout=20)[1] == b""
    holder.stdout.close()
    assert lane_of(lane) == ["x", "d", "a"]


HOLDER = """
import fcntl, sys
fcntl.flock(0, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdout = None
import signal
signal.pause()
"""
