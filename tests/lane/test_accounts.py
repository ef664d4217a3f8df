"""Who may say what runs next, asked by processes of real accounts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.db.embedded_users import PYTHON_PATH, python_for_nobody
from tests.lane.accounts import PROJECT, Account, account, nameless


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "priority.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def kept_log(folder: Path, operator: Account) -> None:
    """A log that everybody may add to, as an operator makes it who wants every refusal kept."""
    log = folder / "priority.jsonl"
    log.touch()
    log.chmod(0o622)
    operator.owns(log)


def declared(folder: Path, operator: Account) -> Path:
    path = folder / "queue.toml"
    path.write_text('[priority]\nsources = ["nightly-import"]\n')
    path.chmod(0o644)
    operator.owns(path)
    return path


def test_the_owner_of_the_queue_is_its_operator(operators_folder: Path, operator: Account) -> None:
    answer = operator.asks(operators_folder, "bump", "a")

    assert answer["moved"] == ["d", "a"]
    assert records(operators_folder)[0]["by"] == "operator:daemon"


def test_root_is_no_operator_of_another_accounts_queue(operators_folder: Path) -> None:
    answer = account("root").asks(operators_folder, "bump", "a")

    assert answer["refusal"] == "not-granted"
    [record] = records(operators_folder)
    assert (record["by"], record["untrusted"]) == ("account:root", True)


def test_a_stranger_is_refused_alike_for_what_is_there_and_what_is_not(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    kept_log(operators_folder, operator)

    answers = [stranger.asks(operators_folder, "bump", slug) for slug in ("a", "no-such")]

    told = [{**answer, "job_id": None} for answer in answers]
    assert told[0] == told[1]
    assert told[0]["refusal"] == "not-granted"
    kept = [(r["type"], r["by"], r["untrusted"]) for r in records(operators_folder)]
    assert kept == [("PriorityRefused", "account:nobody", True)] * 2


def test_a_strangers_refusal_that_cannot_be_added_says_so(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    operator.asks(operators_folder, "bump", "x")
    before = (operators_folder / "priority.jsonl").read_bytes()

    answer = stranger.asks(operators_folder, "bump", "a")

    assert answer["refusal"] == "not-granted"
    assert answer["note"].endswith("not recorded: permission denied")
    assert (operators_folder / "priority.jsonl").read_bytes() == before


def test_a_stranger_who_may_not_even_read_the_queue_is_refused(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    (operators_folder / "queue.txt").chmod(0o600)

    assert stranger.asks(operators_folder, "bump", "a")["refusal"] == "not-granted"


@pytest.mark.parametrize("verb", ["bump", "unbump", "push --bump"])
def test_no_verb_is_open_to_a_stranger(
    operators_folder: Path, operator: Account, stranger: Account, verb: str
) -> None:
    operator.asks(operators_folder, "bump", "x")

    answer = stranger.asks(operators_folder, verb, "x")

    assert answer["refusal"] == "not-granted"
    assert (operators_folder / "queue.txt").read_text() == "x\nd\na: d\n"


def test_a_name_in_the_environment_is_nobodys_name(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    kept_log(operators_folder, operator)
    lie = dict.fromkeys(("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"), "daemon")

    answer = stranger.asks(operators_folder, "bump", "a", env=lie | {"SUDO_UID": "1"})

    assert answer["refusal"] == "not-granted"
    assert records(operators_folder)[0]["by"] == "account:nobody"


def test_a_source_must_also_run_as_the_operators_account(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    declared(operators_folder, operator)

    refused = stranger.asks(operators_folder, "bump", "a", source="nightly-import")
    admitted = operator.asks(operators_folder, "bump", "a", source="nightly-import")

    assert refused["refusal"] == "not-granted"
    assert admitted["accepted"]
    assert records(operators_folder)[0]["by"] == "source:nightly-import"


def test_an_account_that_has_no_name_is_no_operator(open_folder: Path) -> None:
    nobody_known = nameless()
    queue = open_folder / "queue.txt"
    queue.write_text("a\n")
    nobody_known.owns(open_folder, queue)

    answer = nobody_known.asks(open_folder, "bump", "a")

    assert answer["refusal"] == "not-granted"
    [record] = records(open_folder)
    assert record["by"] == f"account:uid-{nobody_known.uid}"
    assert "password database" in record["changed"]["note"]


def test_a_declaration_that_the_operator_may_not_read_refuses_him(
    operators_folder: Path, operator: Account
) -> None:
    path = declared(operators_folder, operator)
    account("root").owns(path)
    path.chmod(0o600)

    answer = operator.asks(operators_folder, "bump", "a")

    assert answer["refusal"] == "not-granted"
    assert "permission denied" in records(operators_folder)[0]["changed"]["note"]


def test_a_log_that_a_stranger_planted_is_not_believed(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    log = operators_folder / "priority.jsonl"
    log.write_text('{"type": "PriorityBumped", "changed": {"moved": ["x"], "named": ["x"]}}\n')
    log.chmod(0o666)
    stranger.owns(log)

    answer = operator.asks(operators_folder, "bump", "a")

    assert answer["raised"] == "PermissionError"
    assert "belongs to nobody and not to daemon" in answer["note"]


def test_a_stranger_makes_no_log_even_where_he_could(
    operators_folder: Path, stranger: Account
) -> None:
    operators_folder.chmod(0o777)

    answer = stranger.asks(operators_folder, "bump", "a")

    assert "not recorded" in answer["note"]
    assert [path.name for path in operators_folder.iterdir()] == ["queue.txt"]


@pytest.mark.parametrize("name", ["priority.jsonl", "lane.lock", "settled.jsonl", "queue.txt"])
def test_nothing_is_written_through_a_link(
    operators_folder: Path, operator: Account, name: str
) -> None:
    precious = operators_folder / "precious"
    precious.write_text("x\n" if name == "queue.txt" else "")
    operator.owns(precious)
    (operators_folder / name).unlink(missing_ok=True)
    (operators_folder / name).symlink_to(precious)
    before = precious.read_bytes()

    verbs = {"settled.jsonl": ("settle", "x"), "queue.txt": ("push", "new")}
    answer = operator.asks(operators_folder, *verbs.get(name, ("bump", "x")))

    assert "raised" in answer
    assert precious.read_bytes() == before


def test_what_root_makes_belongs_to_the_operator(operators_folder: Path, operator: Account) -> None:
    root = account("root")
    root.asks(operators_folder, "settle", "d")
    root.asks(operators_folder, "bump", "a")

    owners = {path.name: path.owner() for path in operators_folder.iterdir()}
    assert owners == dict.fromkeys(
        ("queue.txt", "settled.jsonl", "priority.jsonl", "lane.lock"), "daemon"
    )
    assert operator.asks(operators_folder, "bump", "a")["moved"] == ["a"]


def test_a_stranger_may_neither_lock_push_nor_settle(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    operator.asks(operators_folder, "bump", "x")

    answers = [stranger.asks(operators_folder, verb, "d") for verb in ("push", "settle")]

    assert [answer["raised"] for answer in answers] == ["PermissionError"] * 2
    assert (operators_folder / "lane.lock").stat().st_mode & 0o777 == 0o600


def test_whoever_may_write_the_queue_may_lock_it_and_not_write_the_log(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    (operators_folder / "queue.txt").chmod(0o666)
    operator.asks(operators_folder, "bump", "x")
    operator.asks(operators_folder, "settle", "x")

    pushed = stranger.asks(operators_folder, "push", "new")
    settled = stranger.asks(operators_folder, "settle", "d")

    assert pushed["accepted"]
    assert settled["accepted"]
    assert (operators_folder / "priority.jsonl").stat().st_mode & 0o777 == 0o644


def test_a_stranger_may_ask_through_the_command(
    operators_folder: Path, operator: Account, stranger: Account
) -> None:
    kept_log(operators_folder, operator)
    python = python_for_nobody()
    if python is None:
        pytest.skip("there is no interpreter that another account may run")

    done = subprocess.run(
        [python, "manage.py", "lane", "--dir", str(operators_folder), "bump", "a"],
        cwd=PROJECT,
        env={"PYTHONPATH": f"{PROJECT / 'queue'}:{PYTHON_PATH}", "PYTHONDONTWRITEBYTECODE": "1"},
        user=stranger.uid,
        group=stranger.gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "account:nobody may not change what runs next" in done.stderr
    assert [record["by"] for record in records(operators_folder)] == ["account:nobody"]
