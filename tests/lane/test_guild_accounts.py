"""Who may say what runs next in a guild, asked through the real command by real accounts."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.services.browse import events_page
from guildqueue.services.register_guild import register_guild
from tests.builders import (
    cancelled_session,
    session_jobs,
    stored_session,
)
from tests.db.command import Ended
from tests.db.embedded_users import python_for_nobody
from tests.db.lane_requests import lane, tracks_alone
from tests.db.races import query
from tests.db.stored import write
from tests.lane.accounts import Account, account, nameless
from tests.lane.command_line import Asked, CommandLine, open_to_group

pytestmark = pytest.mark.usefixtures("committed_db")
GUILD = GuildId(118000000000000001)
SOURCE = ("--source", "nightly-import")
DECLARING = b'[queue.priority]\nsources = ["nightly-import"]\n'
NOBODY = 2**62
FAULTY: dict[str, Callable[[Path], object]] = {
    "not TOML": lambda path: path.write_bytes(b"[queue.priority\n"),
    "not text": lambda path: path.write_bytes(b"\x89PNG\xff\x00"),
    "a directory": lambda path: path.mkdir(),
    "leads nowhere": lambda path: path.symlink_to("no-such-file"),
    "permission denied": lambda path: path.write_bytes(DECLARING),
}


@pytest.fixture
def shell(operator: Account, database_url: str) -> Iterator[CommandLine]:
    """The command line; skipped where we are not root or other accounts may not run it."""
    python = python_for_nobody()
    if python is None:
        pytest.skip("there is no interpreter that another account may run")
    with open_to_group():
        yield CommandLine(python, database_url)


@pytest.fixture
def root(open_folder: Path) -> Path:
    """The guild's root, of nobody who asks: a test says whose it is."""
    register_guild(GUILD, name="Starling Guild", root=str(open_folder))
    return open_folder


@pytest.fixture
def declared(root: Path, operator: Account) -> Path:
    """The declaration, of the operator, in a folder of another account."""
    return declare(root, operator)


def declare(root: Path, owner: Account) -> Path:
    path = root / "queue.toml"
    path.write_bytes(DECLARING)
    path.chmod(0o644)
    owner.owns(path)
    return path


def recorded_by() -> list[str]:
    """Who asked, oldest first."""
    return [record.by for record in reversed(events_page(GUILD)) if "Priority" in record.type]


def test_the_owner_of_the_declaration_may_ask_for_everything(
    shell: CommandLine, declared: Path, operator: Account
) -> None:
    [job], session = tracks_alone(GUILD, 1), stored_session(GUILD)
    cancelled = session_jobs(cancelled_session(GUILD))[0].id
    verbs = [
        ("bump", job),
        ("unbump", job),
        ("bump", "--session", session),
        ("add", "transcribe", "--session", session, "--bump"),
        ("requeue", cancelled, "--bump"),
    ]

    ended = [shell.queue(operator, *words, "-g", GUILD) for words in verbs]

    assert [done.code for done in ended] == [0] * len(verbs), ended
    assert recorded_by() == ["operator:daemon"] * len(verbs)
    assert len(lane()) == len(session_jobs(session)) + 1
    assert job not in lane()


def test_the_folders_owner_and_root_are_strangers_where_another_owns_the_declaration(
    shell: CommandLine, root: Path, declared: Path
) -> None:
    owner = account("bin")
    owner.owns(root)

    ended = shell.each(*[Asked(who, ("bump", 1, "-g", GUILD)) for who in (owner, account("root"))])

    assert [done.code for done in ended] == [3, 3]
    assert sorted(recorded_by()) == ["account:bin", "account:root"]


def test_the_owner_of_the_root_is_the_operator_where_nothing_is_declared(
    shell: CommandLine, root: Path, operator: Account, stranger: Account
) -> None:
    [job] = tracks_alone(GUILD, 1)
    operator.owns(root)

    ended = [
        shell.queue(operator, "bump", job, "-g", GUILD),
        shell.queue(operator, "unbump", job, "-g", GUILD, *SOURCE),
        shell.queue(stranger, "unbump", job, "-g", GUILD),
    ]

    assert [done.code for done in ended] == [0, 3, 3]
    assert "is not declared" in ended[1].fault
    assert recorded_by() == ["operator:daemon", "account:daemon", "account:nobody"]
    assert lane() == [job]


def test_a_source_is_admitted_as_the_operators_account_alone(
    shell: CommandLine, declared: Path, operator: Account, stranger: Account
) -> None:
    [job] = tracks_alone(GUILD, 1)

    ended = [
        shell.queue(operator, "bump", job, "-g", GUILD, *SOURCE),
        shell.queue(operator, "unbump", job, "-g", GUILD, "--source", "somebody"),
        shell.queue(stranger, "unbump", job, "-g", GUILD, *SOURCE),
        shell.queue(account("root"), "unbump", job, "-g", GUILD, *SOURCE),
    ]

    assert [done.code for done in ended] == [0, 3, 3, 3]
    assert recorded_by() == [
        "source:nightly-import", "account:daemon", "account:nobody", "account:root",
    ]  # fmt: skip
    assert lane() == [job]


@pytest.fixture
def planted(stranger: Account) -> Iterator[Path]:
    """A folder of the stranger's, laid out as the project's and a data directory's."""
    with TemporaryDirectory(prefix="guildqueue-planted-") as folder:
        own = Path(folder)
        guild = own / "guilds" / str(GUILD)
        guild.mkdir(parents=True)
        stranger.owns(own, own / "guilds", guild)
        own.chmod(0o755)
        declare(own, stranger)
        declare(guild, stranger)
        yield own


def test_nothing_around_the_process_makes_a_stranger_the_operator(
    shell: CommandLine, declared: Path, operator: Account, stranger: Account, planted: Path
) -> None:
    names = dict.fromkeys(("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"), "daemon")
    places = dict.fromkeys(("HOME", "PWD", "OLDPWD", "GUILDQUEUE_DATA_DIR"), str(planted))
    lies = names | places | {"SUDO_UID": str(operator.uid), "SUDO_GID": str(operator.gid)}
    words = ("bump", 1, "-g", GUILD)

    ended = shell.each(
        Asked(stranger, words, cwd=planted, env=lies),
        Asked(stranger, (*words, *SOURCE), cwd=planted, env=lies),
    )

    assert [done.code for done in ended] == [3, 3]
    assert recorded_by() == ["account:nobody"] * 2


def test_nothing_around_the_process_gives_the_operator_another_name(
    shell: CommandLine, declared: Path, operator: Account, planted: Path
) -> None:
    [job] = tracks_alone(GUILD, 1)
    lies = dict.fromkeys(("USER", "LOGNAME", "SUDO_USER"), "nobody") | {"HOME": str(planted)}

    done = shell.queue(operator, "bump", job, "-g", GUILD, cwd=planted, env=lies)

    assert done.code == 0
    assert recorded_by() == ["operator:daemon"]


@pytest.mark.parametrize("fault", FAULTY)
def test_a_declaration_that_cannot_be_relied_on_refuses_its_owner_on_record(
    shell: CommandLine, root: Path, operator: Account, fault: str
) -> None:
    [job] = tracks_alone(GUILD, 1)
    path = root / "queue.toml"
    FAULTY[fault](path)
    if fault == "permission denied":
        path.chmod(0o600)
    else:
        operator.owns(path)
    operator.owns(root)

    done = shell.queue(operator, "bump", job, "-g", GUILD, "--json")

    assert done.code == 3
    assert fault in done.fault
    assert str(path) in done.fault
    [record] = events_page(GUILD)
    assert (record.type, record.by, record.untrusted) == ("PriorityRefused", "account:daemon", True)
    assert fault in record.changed["note"]
    assert lane() == []


def test_a_root_that_may_not_be_looked_into_refuses_its_owner(
    shell: CommandLine, root: Path, operator: Account
) -> None:
    inner = root / "closed" / "root"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o700)
    operator.owns(inner)
    register_guild(GUILD, root=str(inner))

    done = shell.queue(operator, "bump", 1, "-g", GUILD)

    assert done.code == 3
    assert "permission denied" in done.fault
    assert recorded_by() == ["account:daemon"]


def test_an_owner_without_an_entry_in_the_password_database_is_no_operator(
    shell: CommandLine, root: Path
) -> None:
    nobody_known = nameless()
    nobody_known.owns(root)

    done = shell.queue(nobody_known, "bump", 1, "-g", GUILD)

    assert done.code == 3
    assert f"(uid {nobody_known.uid}) is not in the password database" in done.fault
    assert recorded_by() == [f"account:uid-{nobody_known.uid}"]


def ask_of(kind: str, is_there: bool) -> tuple[object, ...]:
    """A request for something of the guild, or for something that is not there."""
    [job], session = tracks_alone(GUILD, 1), stored_session(GUILD)
    job_id, session_id = (job, session) if is_there else (NOBODY, NOBODY - 1)
    match kind:
        case "bump":
            return (kind, job_id)
        case "unbump":
            write("UPDATE guildqueue_job SET bump_seq = 1, bump_named = true WHERE id = %s", job_id)
            return (kind, job_id)
        case "requeue":
            return (kind, job_id, "--bump")
        case "bump-session":
            return ("bump", "--session", session_id)
        case _:
            return ("add", "transcribe", "--session", session_id, "--needs", job_id, "--bump")


def told(done: Ended) -> dict[str, object]:
    """All of an answer but the number that the request itself named."""
    body = done.json
    return {**body, "job_id": None, "session_id": None, "code": done.code, "stderr": done.err}


def recorded() -> list[dict[str, Any]]:
    """Every row of the ledger, but for what makes two records two, and the number named."""
    rows = query(
        "SELECT to_jsonb(record) - '{event_id,at,correlation_id,digest,prev_digest}'::text[]"
        " #- '{changed,job_id}' #- '{changed,session_id}'"
        " FROM guildqueue_queue_event AS record ORDER BY event_id"
    )
    return [json.loads(row) if isinstance(row, str) else row for (row,) in rows]


@pytest.mark.parametrize("kind", ["bump", "unbump", "requeue", "bump-session", "add"])
def test_a_stranger_is_answered_and_recorded_alike_for_what_is_there_and_what_is_not(
    shell: CommandLine, declared: Path, stranger: Account, kind: str
) -> None:
    options = ("-g", GUILD, "--reason", "please", "--json")
    asked = [Asked(stranger, (*ask_of(kind, is_there), *options)) for is_there in (True, False)]
    before = query("SELECT * FROM guildqueue_job ORDER BY id")

    there, missing = shell.each(*asked)

    assert there.code == 3
    assert query("SELECT * FROM guildqueue_job ORDER BY id") == before
    assert told(there) == told(missing)
    assert told(there)["refusal"] == "not-granted"
    assert there.fault == (
        "account:nobody may not change what runs next: only the operator's account and the "
        "sources declared for it may"
    )
    one, other = recorded()
    assert one == other
    assert (one["by"], one["reason"], one["untrusted"]) == ("account:nobody", "please", True)
