"""``queue add --from``: many jobs from JSON lines, all or none of them, by one COPY."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.browse import job_detail
from tests import builders
from tests.conftest import ServerLog
from tests.db.command import Ended, queue
from tests.db.stored import row_versions
from tests.db.worker_process import PROJECT

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild_id() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def session_id(guild_id: GuildId) -> SessionId:
    return builders.stored_session(guild_id, n_tracks=0)


@pytest.fixture
def jobs_file(tmp_path: Path) -> Path:
    return tmp_path / "jobs.jsonl"


def line(**fields: Any) -> str:
    return json.dumps(fields)


def added(path: Path, *lines: str) -> Ended:
    path.write_text("\n".join(lines))
    return queue("add", "--from", path, "--json")


def test_each_line_is_a_job_as_http_takes_it(
    session_id: SessionId, guild_id: GuildId, jobs_file: Path
) -> None:
    session = str(session_id)

    answer = added(
        jobs_file,
        line(guild=str(guild_id), session=session, kind="transcribe", external_id="a"),
        "",
        line(
            session=session,
            kind="document",
            assignee_kind="human",
            payload={"title": "x"},
            needs=["a"],
            labels=["slow"],
            run_after="2030-03-14T20:30:00Z",
            external_id=None,
            audio_seconds=12,
        ),
    ).json

    first, second = (job_detail(int(job["job_id"])).job for job in answer["jobs"])  # type: ignore[arg-type]
    assert answer["created"] == 2
    assert (first.kind, first.external_id) == ("transcribe", "a")
    assert (second.kind, second.assignee_kind, second.labels) == ("document", "human", ("slow",))
    assert (second.payload, list(second.needs)) == ({"title": "x"}, [first.id])
    assert second.audio_seconds == 12


def test_what_is_there_already_is_left_and_counted(session_id: SessionId, jobs_file: Path) -> None:
    once = line(external_id="a")
    jobs_file.write_text(f"{once}\n{line(external_id='b')}\n{once}\n")
    words = ("add", "transcribe", "--session", session_id, "--from", jobs_file)

    assert queue(*words).out == "added 2 jobs, 1 were there already\n"
    assert queue(*words).out == "added 0 jobs, 3 were there already\n"


def test_a_thousand_are_written_by_one_copy(
    session_id: SessionId, jobs_file: Path, server_log: ServerLog
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET log_statement = 'all'")

    answer = added(
        jobs_file, *(line(session=str(session_id), kind="transcribe") for _ in range(1000))
    ).json

    assert answer["created"] == 1000
    ids = [int(job["job_id"]) for job in answer["jobs"]]
    assert ids == sorted(ids)
    assert server_log.text().count("COPY guildqueue_job (") == 1


def test_they_come_from_standard_input_too(session_id: SessionId, database_url: str) -> None:
    ours = {"DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "console.settings"}
    words = ["queue", "add", "transcribe", "--session", str(session_id), "--from", "-"]

    ended = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env=os.environ | ours,
        input='{"labels": ["ä"]}\n{}\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "added 2 jobs\n", "")
    assert [job.labels for job in builders.session_jobs(session_id)] == [("ä",), ()]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        ('{"kind": "transcribe"}', "session is missing"),
        ('{"session": "SESSION"}', "kind is missing"),
        ('{"session": "SESSION", "kind": "nap"}', "kind"),
        ('{"session": "SESSION", "kind": null}', "kind is not text"),
        ('{"session": "SESSION", "kind": "transcribe", "bump": true}', "unknown field 'bump'"),
        ('{"session": 5, "kind": "transcribe"}', "session is no id"),
        ('{"session": "SESSION", "kind": "transcribe", "kind": "document"}', "'kind' twice"),
        ('{"session": "SESSION", "kind": "transcribe", "payload": []}', "payload"),
        ('{"session": "SESSION", "kind": "transcribe", "audio_seconds": NaN}', "NaN"),
        ('{"session": "SESSION", "kind": "transcribe", "audio_seconds": -1}', "audio_seconds"),
        ('{"session": "SESSION", "kind": "transcribe", "run_after": "soon"}', "run_after"),
        ('{"session": "SESSION", "kind": "transcribe", "labels": "x"}', "labels is not a list"),
        ('{"session": "SESSION", "kind": "transcribe", "guild": "5"}', "guild is 5"),
        (f'{{"session": "SESSION", "payload": {"[" * 100_000}', "not JSON"),
        (f'{{"session": {"1" * 5_000}}}', "too long"),
    ],
)
def test_a_line_that_is_none_is_named_and_nothing_is_added(
    session_id: SessionId, guild_id: GuildId, jobs_file: Path, bad: str, fault: str
) -> None:
    good = line(guild=str(guild_id), session=str(session_id), kind="transcribe")
    before = row_versions()

    ended = added(jobs_file, good, bad.replace("SESSION", str(session_id)))

    assert (ended.code, ended.out) == (1, "")
    assert ended.fault.startswith(f"{jobs_file}: line 2: ")
    assert fault in ended.fault
    assert row_versions() == before


def test_what_the_queue_refuses_adds_nothing(
    session_id: SessionId, guild_id: GuildId, jobs_file: Path
) -> None:
    elsewhere = builders.stored_session(builders.stored_guild(builders.MAGPIE), n_tracks=0)
    good = line(session=str(session_id), kind="transcribe")
    before = row_versions()

    assert added(jobs_file, good, line(session=str(elsewhere), kind="transcribe")).code == 3
    unknown = line(session=str(session_id), kind="document", needs=["nobody"])
    assert added(jobs_file, good, unknown).code == 2
    assert added(jobs_file, line(guild="5", session=str(session_id), kind="document")).code == 3
    assert row_versions() == before


def test_a_file_that_cannot_be_read_or_holds_none_is_one_line(
    session_id: SessionId, jobs_file: Path
) -> None:
    assert queue("add", "--from", jobs_file).code == 1
    assert added(jobs_file, "", " ").fault == f"{jobs_file}: holds no job"
    jobs_file.write_bytes(b'{"kind": "\xff"}')
    assert queue("add", "--from", jobs_file).fault.endswith("line 1: not UTF-8 at byte 10")


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "x", "--payload", "{}"),
        ("--from", "x", "--audio-seconds", "0"),
        ("--from", "x", "--bump", "-g", "1"),
        ("--from", "x", "--reason", "y"),
        ("transcribe",),
        ("--session", "1"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(words: tuple[str, ...]) -> None:
    ended = queue("add", *words)

    assert (ended.code, ended.out) == (2, "")
