"""``manage.py lane``: its words, its JSON and its exit codes; no test here has a database."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

PROJECT = Path(__file__).resolve().parents[2]
SHAPE = [
    "accepted", "refusal", "job_id", "session_id", "moved", "already", "removed", "skipped", "note",
]  # fmt: skip


def lane(folder: Path, *words: str) -> str:
    """What the command prints. Raises CommandError where it does not end with 0."""
    out = StringIO()
    call_command("lane", "--dir", str(folder), *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def lane_json(folder: Path, *words: str) -> Any:
    return json.loads(lane(folder, *words, "--json"))


def refused(folder: Path, *words: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        lane(folder, *words)
    return caught.value


def warned(folder: Path, *words: str) -> list[str]:
    err = StringIO()
    call_command("lane", "--dir", str(folder), *words, stdout=StringIO(), stderr=err)
    return err.getvalue().splitlines()


def test_the_queue_is_listed_in_the_order_in_which_it_will_run(folder: Path) -> None:
    lane(folder, "bump", "a")
    lane(folder, "push", "last")

    assert lane(folder, "list").splitlines() == [
        "   1  d  (runs next, pulled in)",
        "   2  a  (runs next, named; waits for dependency; needs d)",
        "   3  x",
        "   4  last",
    ]


def test_the_list_says_how_many_are_finished_and_shows_them_when_asked(folder: Path) -> None:
    lane(folder, "settle", "x", "done")
    lane(folder, "settle", "d", "dead")

    assert lane(folder, "list").splitlines() == [
        "   1  a  (waits for dependency-failed; needs d)",
        "and 2 finished",
    ]
    assert lane(folder, "list", "--all").splitlines()[1:] == ["   -  x  (done)", "   -  d  (dead)"]


def test_an_empty_queue_is_listed_as_one(tmp_path: Path) -> None:
    (tmp_path / "queue.txt").touch()

    assert lane(tmp_path, "list") == "nothing is in the queue\n"
    assert lane(tmp_path, "next") == ""
    assert lane_json(tmp_path, "next") == {"job_id": None}


def test_the_list_as_json_has_each_items_place_and_marks(folder: Path) -> None:
    lane(folder, "bump", "a")
    (folder / "settled.jsonl").write_text('{"job_id": "x", "state": "archived"}\n')

    listed = lane_json(folder, "list")

    assert listed["faults"] == []
    assert listed["jobs"] == [
        {
            "job_id": "d", "state": "pending", "position": 1, "lane": True, "named": False,
            "needs": [], "waits_for": None,
        },
        {
            "job_id": "a", "state": "pending", "position": 2, "lane": True, "named": True,
            "needs": ["d"], "waits_for": "dependency",
        },
        {
            "job_id": "x", "state": None, "position": None, "lane": False, "named": False,
            "needs": [], "waits_for": None,
        },
    ]  # fmt: skip


def test_next_is_the_first_item_that_may_run(folder: Path) -> None:
    assert lane(folder, "next") == "x\n"

    lane(folder, "bump", "a")
    assert lane(folder, "next") == "d\n"

    lane(folder, "settle", "d", "done")
    assert lane_json(folder, "next") == {"job_id": "a"}

    lane(folder, "settle", "a", "dead")
    lane(folder, "settle", "x", "cancelled")
    assert lane(folder, "next") == ""


def test_a_bump_says_what_it_moved(folder: Path) -> None:
    assert lane(folder, "bump", "a").splitlines() == ["bumped a", "moved: d, a"]
    assert lane(folder, "bump", "d").splitlines() == [
        "bumped d",
        "note: was pulled in, is named now: d",
    ]


def test_every_answer_of_the_lane_has_the_one_shape(folder: Path) -> None:
    bump = lane_json(folder, "bump", "a", "--reason", "at once")
    push = lane_json(folder, "push", "new", "d", "--bump")
    unbump = lane_json(folder, "unbump", "a")

    assert [list(answer) for answer in (bump, push, unbump)] == [SHAPE] * 3
    assert bump == {
        "accepted": True, "refusal": None, "job_id": "a", "session_id": None, "moved": ["d", "a"],
        "already": [], "removed": [], "skipped": [], "note": "",
    }  # fmt: skip
    assert (push["moved"], push["already"]) == (["new"], ["d"])
    assert unbump["removed"] == ["a"]


def test_a_refused_request_is_exit_1_with_its_reason_and_its_json(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lane(folder, "bump", "a")
    out = StringIO()

    with pytest.raises(CommandError) as caught:
        call_command("lane", "--dir", str(folder), "unbump", "d", "--json", stdout=out)

    assert caught.value.returncode == 1
    assert str(caught.value) == "job d is needed by what runs next: a"
    answer = json.loads(out.getvalue())
    assert list(answer) == SHAPE
    assert (answer["accepted"], answer["refusal"]) == (False, "still-needed")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["bump", "no-such"], "no job 'no-such'"),
        (["unbump", "no-such"], "no job 'no-such'"),
        (["bump", "\x1b[31m"], "no job"),
        (["settle", "no-such", "done"], "no job 'no-such'"),
        (["push", "new", "no-such"], "needs what can never finish: no-such"),
        (["push", "new", "new"], "needs what can never finish: new"),
        (["push", "a", "x"], "job a is there already and needs d"),
        (["bump", "a", "--source", "somebody"], "source 'somebody' is not declared"),
        (["push", "new", "--bump", "--source", "operator"], "'operator' is reserved"),
    ],
)
def test_what_is_refused_is_exit_1_in_one_line(folder: Path, words: list[str], told: str) -> None:
    error = refused(folder, *words)

    assert error.returncode == 1
    assert told in str(error)
    assert str(error).isprintable()
    assert (folder / "queue.txt").read_text() == "x\nd\na: d\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["push", "a b"], "'a b' is not allowed"),
        (["push", "new", "../d"], "'../d' is not allowed"),
        (["push", "new", "--source", "nightly"], "give --bump too"),
        (["settle", "x", "running"], "invalid choice"),
        (["bump", "x", "--reason", "y" * 1001], "longer than 1000 characters"),
        (["bump"], "SLUG"),
        (["jump"], "invalid choice"),
        ([], "VERB"),
    ],
)
def test_misuse_is_exit_2(
    folder: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    process = run(folder, *words)

    assert process.returncode == 2
    assert told in process.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["queue.txt"]


def test_settling_twice_is_told_apart_from_settling_otherwise(folder: Path) -> None:
    assert lane(folder, "settle", "x", "done") == "x is done\n"
    assert lane(folder, "settle", "x", "done") == "x is done already\n"
    assert lane_json(folder, "settle", "x", "done") == {
        "job_id": "x", "state": "done", "changed": False,
    }  # fmt: skip

    assert "it is done" in str(refused(folder, "settle", "x", "dead"))
    assert len((folder / "settled.jsonl").read_text().splitlines()) == 1


def test_what_a_newer_release_wrote_is_neither_settled_nor_bumped(folder: Path) -> None:
    (folder / "settled.jsonl").write_text('{"job_id": "x", "state": "archived"}\n')

    for words in (["settle", "x", "done"], ["bump", "x"]):
        assert "a newer release wrote x" in str(refused(folder, *words))
    assert "state unknown to this release" in lane(folder, "list")
    assert lane(folder, "next") == "d\n"


def test_a_push_is_told_from_one_that_was_there(folder: Path) -> None:
    assert lane(folder, "push", "new", "d", "x") == "pushed new\n"
    assert lane(folder, "push", "new") == "new is there already\n"
    assert lane_json(folder, "push", "new", "x", "d") == {"job_id": "new", "created": False}
    assert (folder / "queue.txt").read_text() == "x\nd\na: d\nnew: d x\n"


def test_who_and_why_are_on_record(folder: Path) -> None:
    (folder / "queue.toml").write_text('[priority]\nsources = ["nightly"]\n')
    secret = "before postgres://ada:hunter2@db/queue and no\nlater"

    lane(folder, "bump", "a", "--source", "nightly", "--reason", secret)

    [record] = [json.loads(line) for line in (folder / "priority.jsonl").read_text().splitlines()]
    assert record["by"] == "source:nightly"
    assert record["reason"] == "before postgres://[redacted] and no\nlater"
    assert record["at"].endswith("Z")
    assert len(record["correlation_id"]) == 16


def test_an_item_whose_name_looks_like_a_secret_is_moved_all_the_same(folder: Path) -> None:
    lane(folder, "push", "gq_0123456789abcdef", "d", "--bump")

    assert lane(folder, "list").splitlines()[1].split()[1] == "gq_0123456789abcdef"
    lane(folder, "unbump", "gq_0123456789abcdef")
    assert lane(folder, "list").splitlines()[0] == "   1  x"


@pytest.mark.parametrize("verb", ["list", "next", "bump", "unbump", "settle", "push"])
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("not a slug", "queue.txt line 4: 'not a slug' is not a slug"),
        ("x", "queue.txt line 4: x is on line 1 already"),
    ],
)
def test_a_line_that_means_nothing_stops_every_verb_in_one_line(
    folder: Path, verb: str, line: str, told: str
) -> None:
    with (folder / "queue.txt").open("a") as file:
        file.write(f"{line}\n")
    words = {"list": [], "next": [], "settle": ["x", "done"]}.get(verb, ["a"])

    error = refused(folder, verb, *words)

    assert error.returncode == 1
    assert told in str(error)
    if verb in {"bump", "unbump"}:
        [record] = (folder / "priority.jsonl").read_text().splitlines()
        assert json.loads(record)["changed"]["refusal"] == "queue-unreadable"


@pytest.mark.parametrize("verb", ["list", "next"])
def test_items_that_can_never_run_are_told_with_their_lines(folder: Path, verb: str) -> None:
    (folder / "queue.txt").write_text("r: s\ns: r\nlost: nowhere\nfine\n")

    assert warned(folder, verb) == [
        "queue.txt line 3: lost needs nowhere, which is not an item",
        "queue.txt line 1: r needs s needs r, so none of them can run",
    ]
    assert lane(folder, "next") == "fine\n"
    assert "dependency-failed" in lane(folder, "list").splitlines()[0]


def test_a_folder_without_a_queue_is_told_in_one_line(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        for words in (["list"], ["bump", "a"], ["push", "a"]):
            error = refused(folder, *words)
            assert error.returncode == 1
            assert "queue.txt" in str(error)
            assert "\n" not in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_call_without_a_folder_is_misuse() -> None:
    with pytest.raises(CommandError, match="--dir DIR") as caught:
        call_command("lane", "list")

    assert caught.value.returncode == 2


def test_a_directory_in_the_place_of_a_file_is_told_in_one_line(folder: Path) -> None:
    (folder / "priority.jsonl").mkdir()

    for words in (["list"], ["bump", "a"]):
        assert "priority.jsonl is a directory" in str(refused(folder, *words))


def run(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, with a database address that nobody answers at."""
    return subprocess.run(
        [sys.executable, "manage.py", "lane", "--dir", str(folder), *words],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"} | env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_needs_no_database(folder: Path) -> None:
    done = run(folder, "bump", "a", "--json")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["moved"] == ["d", "a"]


def test_the_command_starts_no_embedded_server(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"

    done = run(folder, "list", DATABASE_URL="", GUILDQUEUE_DATA_DIR=str(data))

    assert done.returncode == 0, done.stderr
    made = [path.name for path in data.iterdir()] if data.exists() else []
    assert set(made) <= {"secret-key"}


def test_the_folder_may_be_named_before_the_verb_and_behind_it(folder: Path) -> None:
    out = StringIO()
    call_command("lane", "list", "--json", "--dir", str(folder), stdout=out)

    assert json.loads(out.getvalue()) == lane_json(folder, "list")
