"""A declaration in every shape that a file can have, beside a queue.txt and in a guild's root."""

import os
from pathlib import Path

import pytest

from guildqueue.domain.grant import Asker, Declaration, judge
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.services.request_item import bump_item
from guildqueue.store.grant_files import (
    account_name,
    read_guild_declaration,
    read_lane_declaration,
)
from tests.conformance.file_lane import ACCOUNT
from tests.lane.accounts import Account, account, nameless
from tests.lane.faults import FAULTY

LANE = b'[priority]\nsources = ["nightly-import"]\n'
GUILD = b'[queue.priority]\nsources = ["nightly-import"]\n'


def me() -> Asker:
    return Asker(uid=os.getuid(), principal=Principal(PrincipalKind.ACCOUNT, "me"))


def lane_declaration(folder: Path) -> Declaration:
    return read_lane_declaration(folder, anchor=folder / "queue.txt")


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_declaration_refuses_the_operator_and_says_why(folder: Path, fault: str) -> None:
    FAULTY[fault](folder / "queue.toml")

    outcome = bump_item(folder, slug="a", asker=me())

    assert outcome.refusal == "not-granted"
    assert fault in outcome.note
    assert outcome.note.endswith(f"({folder / 'queue.toml'})")
    assert fault in (folder / "priority.jsonl").read_text()


@pytest.mark.parametrize("fault", FAULTY)
def test_a_guilds_faulty_declaration_refuses_its_operator(tmp_path: Path, fault: str) -> None:
    FAULTY[fault](tmp_path / "queue.toml")

    verdict = judge(read_guild_declaration(tmp_path), me())

    assert verdict.refusal is not None
    assert fault in verdict.refusal


def test_a_declaration_that_is_not_there_declares_no_source(folder: Path) -> None:
    for found in (lane_declaration(folder), read_guild_declaration(folder)):
        assert found.fault is None
        assert found.sources == frozenset()
        assert judge(found, me()).is_granted


def test_a_link_to_a_declaration_is_followed(folder: Path) -> None:
    (folder / "reviewed.toml").write_bytes(LANE + GUILD)
    (folder / "queue.toml").symlink_to("reviewed.toml")

    assert lane_declaration(folder).sources == {"nightly-import"}
    assert read_guild_declaration(folder).sources == {"nightly-import"}


def test_nothing_is_read_from_the_working_directory(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "queue.toml").write_bytes(LANE + GUILD)
    monkeypatch.chdir(elsewhere)

    source = Asker(uid=os.getuid(), principal=ACCOUNT, source="nightly-import")

    assert bump_item(folder, slug="a", asker=source).refusal == "not-granted"
    assert read_guild_declaration(Path()).fault is not None


def test_without_a_queue_there_is_nobody_to_ask(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bump_item(tmp_path, slug="a", asker=me())


@pytest.mark.parametrize(
    ("root", "told"),
    [
        pytest.param("missing", "no such file or directory", id="missing"),
        pytest.param("file", "not a directory", id="file"),
        pytest.param("dangling", "no such file or directory", id="dangling-link"),
    ],
)
def test_a_guild_whose_root_is_not_there_admits_nobody(
    tmp_path: Path, root: str, told: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")

    found = read_guild_declaration(tmp_path / root)

    assert found.fault is not None
    assert told in found.fault
    assert not judge(found, me()).is_granted


def test_the_owner_of_the_declaration_is_the_guilds_operator(
    open_folder: Path, operator: Account, stranger: Account
) -> None:
    path = open_folder / "queue.toml"
    path.write_bytes(GUILD)
    stranger.owns(open_folder)
    operator.owns(path)

    assert operator.asks(open_folder, "judge") == {"by": "operator:daemon", "note": None}
    assert stranger.asks(open_folder, "judge")["by"] == "account:nobody"


def test_the_owner_of_the_root_is_the_operator_where_nothing_is_declared(
    open_folder: Path, operator: Account, stranger: Account
) -> None:
    operator.owns(open_folder)

    assert operator.asks(open_folder, "judge")["by"] == "operator:daemon"
    assert stranger.asks(open_folder, "judge")["note"] is not None
    assert account("root").asks(open_folder, "judge")["note"] is not None


def test_a_guilds_declaration_that_may_not_be_read_admits_nobody(
    open_folder: Path, operator: Account, stranger: Account
) -> None:
    path = open_folder / "queue.toml"
    path.write_bytes(GUILD)
    path.chmod(0o600)
    operator.owns(open_folder)

    for who in (operator, stranger):
        assert "permission denied" in who.asks(open_folder, "judge")["note"]


def test_a_root_that_may_not_be_looked_into_admits_nobody(
    open_folder: Path, operator: Account
) -> None:
    inner = open_folder / "closed" / "root"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o700)
    operator.owns(inner)

    answer = operator.asks(inner, "judge")

    assert answer["by"] == "account:daemon"
    assert "permission denied" in answer["note"]


def test_an_owner_without_a_name_is_no_operator(open_folder: Path) -> None:
    nobody_known = nameless()
    nobody_known.owns(open_folder)

    answer = nobody_known.asks(open_folder, "judge")

    assert answer["by"] == f"account:uid-{nobody_known.uid}"
    assert "password database" in answer["note"]


def test_a_name_comes_from_the_password_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody")
    monkeypatch.setenv("LOGNAME", "somebody")

    assert account_name(0) == "root"
