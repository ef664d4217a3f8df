"""``queue verify``: a chain that many writers leave whole, and whatever was changed behind it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection, transaction

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.new_session import NewTrack
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.browse import events_page
from guildqueue.services.cancel import cancel_job
from guildqueue.services.requeue import requeue_job
from guildqueue.services.verify import verify_ledger
from tests.builders import (
    MAGPIE,
    caller,
    complete,
    document_id,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.command import queue
from tests.db.lane_requests import (
    bumped,
    bumped_session,
    lane,
    rooted_guild,
    tracks_alone,
    unbumped,
)
from tests.db.races import query
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")

PROJECT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
import django
django.setup()
from guildqueue.domain.ids import GuildId, JobId
from tests.db.lane_requests import bumped, unbumped
guild, *jobs = map(int, sys.argv[1:])
print("ready", flush=True)
for turn in range(int(1e6)):
    for job in jobs:
        (bumped if turn % 2 == 0 else unbumped)(JobId(job), GuildId(guild))
        print("asked", flush=True)
"""


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path)


def behind_the_triggers(statement: str, *params: object) -> None:
    """What a superuser can do."""
    with transaction.atomic():
        write("SET LOCAL session_replication_role = replica")
        write(statement, *params)


def changed(n: int, guild: GuildId) -> int:
    """The id of the guild's nth record from the oldest."""
    return int(events_page(guild)[-1 - n].event_id)


def facts(guild: GuildId) -> list[str]:
    return [difference.fact for difference in verify_ledger(guild).differences]


def test_a_ledger_that_nobody_touched_is_sound(guild: GuildId) -> None:
    first, second, third = tracks_alone(guild, 3)
    for job_id in (second, third, first, JobId(999)):
        bumped(job_id)
    unbumped(third)
    cancel_job(first, guild_id=guild, caller=caller())

    done = queue("verify", "-g", guild, "--json")

    assert done.code == 0
    assert done.json == {
        "guilds": [
            {
                "guild_id": str(guild),
                "records": 6,
                "faults": [],
                "differences": [],
                "repaired": 0,
                "sound": True,
            }
        ]
    }


@pytest.mark.parametrize(
    "change",
    ["reason = 'because'", "by = 'operator:eve'", "changed = '{}'", "untrusted = true",
     "at = at + interval '1 microsecond'", "type = 'Held'", "correlation_id = 'x'"],
)  # fmt: skip
def test_a_row_that_a_superuser_changed_is_found_with_its_id(guild: GuildId, change: str) -> None:
    for job_id in tracks_alone(guild, 3):
        bumped(job_id)
    event_id = changed(1, guild)

    behind_the_triggers(
        f"UPDATE guildqueue_queue_event SET {change} WHERE event_id = %s",  # noqa: S608
        event_id,
    )

    done = queue("verify", "-g", guild, "--json")
    assert done.code == 1
    assert [f["event_id"] for f in done.json["guilds"][0]["faults"]] == [str(event_id)]
    assert "not sound" in done.fault


def test_a_row_that_a_superuser_removed_is_found_at_the_next_one(guild: GuildId) -> None:
    for job_id in tracks_alone(guild, 3):
        bumped(job_id)
    removed, following = changed(1, guild), changed(2, guild)

    behind_the_triggers("DELETE FROM guildqueue_queue_event WHERE event_id = %s", removed)

    assert [fault.event_id for fault in verify_ledger(guild).faults] == [following]


def test_a_changed_row_with_a_digest_to_fit_is_found_at_the_next_one(guild: GuildId) -> None:
    for job_id in tracks_alone(guild, 2):
        bumped(job_id)

    behind_the_triggers(
        "UPDATE guildqueue_queue_event SET digest = 'x' WHERE event_id = %s", changed(0, guild)
    )

    found = {int(fault.event_id) for fault in verify_ledger(guild).faults}
    assert found == {changed(0, guild), changed(1, guild)}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param("bump_seq = NULL, bump_named = false", "is not in the lane", id="taken-out"),
        pytest.param("bump_named = false", "is pulled in", id="name-lost"),
        pytest.param("bump_seq = bump_seq + 10", "in another order", id="moved"),
    ],
)
def test_a_lane_that_was_changed_by_hand_is_told_and_the_record_repaired(
    guild: GuildId, change: str, told: str
) -> None:
    jobs = tracks_alone(guild, 3)
    for job_id in jobs:
        bumped(job_id)

    write(f"UPDATE guildqueue_job SET {change} WHERE id = %s", jobs[0])  # noqa: S608
    before = lane()

    assert told in facts(guild)[0]
    repaired = queue("verify", "-g", guild, "--repair", "--json")
    assert repaired.code == 0
    assert repaired.json["guilds"][0]["repaired"] == len(repaired.json["guilds"][0]["differences"])
    assert facts(guild) == []
    assert lane() == before
    assert events_page(guild)[0].by.startswith("account:")


def test_a_job_that_was_put_into_the_lane_by_hand_is_told(guild: GuildId) -> None:
    first, second = tracks_alone(guild, 2)
    bumped(second)
    write("UPDATE guildqueue_job SET bump_seq = 0, bump_named = true WHERE id = %s", first)

    assert f"job {first} is in the lane, and no record says" in facts(guild)[0]
    assert queue("verify", "-g", guild, "--repair").code == 0
    assert queue("verify", "-g", guild).code == 0
    assert lane() == [first, second]


def test_what_ended_and_was_requeued_is_no_difference(guild: GuildId) -> None:
    [cancelled, other] = tracks_alone(guild, 2)
    session = stored_session(guild, n_tracks=1, recording=True)
    bumped(cancelled)
    bumped(other)
    bumped_session(session)
    cancel_job(cancelled, guild_id=guild, caller=caller())
    requeue_job(cancelled, guild_id=guild, caller=caller())

    assert facts(guild) == []
    bumped(cancelled)
    assert facts(guild) == []
    assert lane()[-1] == cancelled


def test_a_finished_document_that_a_late_track_reopens_is_no_difference(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=1, recording=True)
    add_tracks(session, guild_id=guild, tracks=(), recording=False)
    bumped(document_id(session))
    while leases := running_jobs(session):
        for lease in leases:
            complete(lease)

    write("UPDATE guildqueue_session SET recording = true WHERE id = %s", session)
    late = NewTrack(name="late", uri=None, audio_seconds=None)
    add_tracks(session, guild_id=guild, tracks=(late,), recording=False)

    assert len(track_ids(session)) == 2
    assert facts(guild) == []


def test_every_guild_is_verified_where_none_is_named(guild: GuildId) -> None:
    stored_guild(MAGPIE)

    body = queue("verify", "--json").json

    assert [found["guild_id"] for found in body["guilds"]] == [str(guild), str(MAGPIE)]
    assert queue("verify", "-g", 5).code == 3


def test_twenty_writers_of_which_some_are_killed_leave_the_chain_whole(
    guild: GuildId, database_url: str
) -> None:
    jobs = tracks_alone(guild, 8)
    started = [_writer(guild, jobs[n % 8 :] + jobs[: n % 8], database_url) for n in range(20)]
    try:
        for writer in started:
            assert _line(writer) == "ready"
        for number, writer in enumerate(started):
            for _ in range(1 + number % 3):
                assert _line(writer) == "asked"
            # In the middle of whatever it is at.
            writer.send_signal(signal.SIGKILL)
    finally:
        for writer in started:
            writer.kill()
            writer.wait()
            writer.communicate()
    connection.close()
    _wait_until_alone()

    verdict = verify_ledger(guild)

    assert (verdict.faults, verdict.differences) == ((), ())
    assert verdict.n_records >= 38


def _writer(guild: GuildId, jobs: list[JobId], url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(guild), *map(str, jobs)],
        cwd=PROJECT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "TEST_DATABASE_URL": url,
            "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'queue'}",
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def _line(writer: "subprocess.Popen[str]") -> str:
    assert writer.stdout is not None
    return writer.stdout.readline().strip()


def _wait_until_alone() -> None:
    """Until the database has noticed that the dead are gone; our own voice for wake-ups stays."""
    for _ in range(500):
        if query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            " AND application_name <> 'guildqueue wake'"
        ) == [(0,)]:
            return
        query("SELECT pg_sleep(0.02)")
    raise TimeoutError("the killed writers' connections are still there")
