"""Several processes at one queue at once."""

import fcntl
import json
import time
from pathlib import Path

import pytest

from guildqueue.domain.lane_log import LaneReplay
from guildqueue.store import lane_file
from guildqueue.store.lane_file import LaneFolder, read_state
from tests.conformance.file_lane import FileLane
from tests.conformance.protocol import Who, lane_of
from tests.lane.writers import started


def test_requests_of_many_processes_are_all_there_and_whole(folder: Path) -> None:
    slugs = [f"item-{number}" for number in range(12)]
    (folder / "queue.txt").write_text("d\n" + "".join(f"{slug}: d\n" for slug in slugs))
    lane = FileLane(folder)

    processes = [started(folder, "bump", slug) for slug in slugs]
    errors = [process.communicate(timeout=60)[1] for process in processes]

    assert errors == [b""] * len(slugs)
    records = lane.records()
    assert sorted(record.job for record in records) == sorted(slugs)
    # Whoever was first pulled in what they all need, and nobody did so again.
    assert [record.moved for record in records] == [
        ("d", records[0].job),
        *((record.job,) for record in records[1:]),
    ]
    assert lane_of(lane) == ["d", *(record.job for record in records)]


def test_pushes_and_settlings_of_many_processes_are_all_there(folder: Path) -> None:
    lane = FileLane(folder)

    processes = [started(folder, "push", f"new-{number}") for number in range(6)]
    processes += [started(folder, "push --bump", f"ahead-{number}") for number in range(3)]
    processes += [started(folder, "settle", "x"), started(folder, "settle", "x")]
    errors = [process.communicate(timeout=60)[1] for process in processes]

    assert errors == [b""] * len(processes)
    jobs = lane.jobs()
    assert {f"new-{n}" for n in range(6)} | {f"ahead-{n}" for n in range(3)} < set(jobs)
    assert lane.lease("x") == [json.loads((folder / "settled.jsonl").read_text())]
    assert set(lane_of(lane)) == {"d", "ahead-0", "ahead-1", "ahead-2"}


def test_a_queue_that_somebody_keeps_locked_refuses_on_the_record(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = FileLane(folder)
    lane.bump("x")
    monkeypatch.setattr(lane_file, "LOCK_PATIENCE_S", 0.05)

    with (folder / "lane.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = lane.bump("a")

    assert answer.refusal == "busy"
    assert "retry is safe" in answer.note
    assert [record.refusal for record in lane.records()] == [None, "busy"]
    assert lane_of(lane) == ["x"]
    assert lane.bump("a").accepted


def test_strangers_refusals_do_not_get_into_each_other(folder: Path) -> None:
    lane = FileLane(folder)
    lane.bump("x")
    with (folder / "priority.jsonl").open("ab") as file:
        file.write(b'{"torn')

    lane.bump("a", who=Who.STRANGER)
    lane.bump("a")
    lane.bump("x", who=Who.STRANGER_AS_SOURCE)

    whole = [line for line in (folder / "priority.jsonl").read_text().split("\n") if line]
    types = [json.loads(line)["type"] for line in whole if line != '{"torn']
    assert types == ["PriorityBumped", "PriorityRefused", "PriorityBumped", "PriorityRefused"]
    assert lane_of(lane) == ["x", "d", "a"]


@pytest.mark.alone
def test_a_hundred_thousand_requests_are_replayed_in_less_than_a_second(folder: Path) -> None:
    lane = FileLane(folder)
    slugs = [f"item-{number}" for number in range(500)]
    (folder / "queue.txt").write_text("".join(f"{slug}\n" for slug in slugs))
    for slug in slugs[:2]:
        lane.bump(slug, reason="the board meets at noon, and wants to have read it by then")
        lane.unbump(slug)
    template = (folder / "priority.jsonl").read_text().splitlines()[:2]
    lines = [
        template[number % 2].replace('"item-0"', f'"{slugs[number // 2 % 500]}"')
        for number in range(100_000)
    ]
    (folder / "priority.jsonl").write_text("\n".join(lines) + "\n")
    lane.bump("item-7")

    start_s = time.process_time()
    state = read_state(LaneFolder(folder))
    took_s = time.process_time() - start_s

    assert [slug for slug, job in state.jobs.items() if job.bump_seq is not None] == ["item-7"]
    assert took_s < 1.0


def test_records_give_the_lane_that_the_files_give(folder: Path) -> None:
    lane = FileLane(folder)
    for name in ("a", "x", "d"):
        lane.bump(name)
    lane.unbump("x")

    replay = LaneReplay()
    for line in (folder / "priority.jsonl").read_text().splitlines():
        replay.apply(json.loads(line)["changed"])

    assert list(replay.members.items()) == [("d", True), ("a", True)]
    assert lane_of(lane) == ["d", "a"]
