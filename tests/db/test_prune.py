"""Prune: what is finished and old goes whole, what may still matter stays, the ledger always."""

from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.errors import GuildNotFound, InvalidInput, SessionNotFound
from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_job import NewJob
from guildqueue.services.browse import session_detail
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.prune import PrunedGuild, age_limit, prune_guild
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.services.verify import verify_ledger
from tests.builders import (
    MAGPIE,
    STARLING,
    dead_session,
    done_session,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.command import queue
from tests.db.old import age, left_file, old_cancelled, old_session, sessions
from tests.db.races import query
from tests.db.stored import row_versions, write
from tests.db.test_explain import explain, fill

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    return tmp_path / "media"


def prune(guild_id: GuildId = STARLING, **choices: Any) -> PrunedGuild:
    return prune_guild(guild_id, ended_before=age_limit(30), **choices)


def count(table: str) -> int:
    return int(query(f"SELECT count(*) FROM guildqueue_{table}")[0][0])  # noqa: S608


def test_a_finished_session_goes_by_its_newest_end_with_all_that_is_its_own(
    guild: GuildId,
) -> None:
    old_session(guild, n_tracks=3)
    young = old_session(guild, n_tracks=1)
    write("UPDATE guildqueue_job SET finished_at = now() WHERE id = %s", track_ids(young)[0])

    gone = prune()

    assert (gone.n_sessions, gone.n_jobs) == (1, 4)
    assert sessions() == [young]
    assert (count("job"), count("job_dependency"), count("participant")) == (2, 1, 1)


def test_nothing_outstanding_goes_however_old_the_rest_is(guild: GuildId) -> None:
    kept = [
        age(dead_session(guild, n_tracks=3)),
        stored_session(guild),
        age(stored_session(guild, n_tracks=2, recording=True)),
        stored_session(guild, n_tracks=0, recording=False),
    ]
    running = stored_session(guild)
    running_jobs(running)
    recording = old_cancelled(guild)
    write("UPDATE guildqueue_session SET recording = true WHERE id = %s", recording)
    newer = old_cancelled(guild)
    write("UPDATE guildqueue_job SET state = 'archived' WHERE session_id = %s", newer)
    before = row_versions()

    assert prune().n_sessions == 0

    assert sessions() == [*kept, running, recording, newer]
    assert row_versions() == before


def test_what_another_session_needs_stays_as_long_as_that_one(guild: GuildId) -> None:
    first, second = old_cancelled(guild), old_cancelled(guild)
    needs = tuple(track_ids(first))
    enqueue_jobs(guild, jobs=[NewJob(session_id=second, kind="transcribe", needs=needs)])
    assert prune().n_sessions == 0

    write(
        "UPDATE guildqueue_job SET state = 'cancelled', finished_at = now() WHERE state = 'pending'"
    )
    age(second)

    assert prune().n_sessions == 1
    assert sessions() == [first]
    assert prune().n_sessions == 1


def test_counters_count_what_is_stored_and_the_ledger_stays(guild: GuildId) -> None:
    old_session(guild, n_tracks=2)
    old_cancelled(guild)
    done_session(guild)
    n_records = count("queue_event")
    assert n_records > 0

    prune(batch=1)

    counts = queue_snapshot(guild).counts
    assert (counts.done, counts.cancelled, counts.other) == (2, 0, 0)
    assert count("guild_count") == 1
    assert count("queue_event") == n_records
    assert verify_ledger(guild).is_sound


def test_another_guilds_sessions_stay(guild: GuildId) -> None:
    theirs = old_session(stored_guild(MAGPIE))
    old_session(guild)

    prune()

    assert sessions() == [theirs]


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_every_batch_size_removes_the_same(guild: GuildId, batch: int) -> None:
    for _ in range(5):
        old_cancelled(guild)
    kept = stored_session(guild)

    assert prune(batch=batch).n_sessions == 5
    assert sessions() == [kept]


def test_a_dry_run_says_what_would_go_and_writes_nothing(guild: GuildId) -> None:
    left_file(f"transcripts/{guild}/7/1-1.json", session_id=old_session(guild, n_tracks=3))
    old_cancelled(guild)
    before = row_versions()

    assert (prune(dry_run=True).n_sessions, prune(dry_run=True).n_jobs) == (2, 6)

    assert row_versions() == before


def test_the_files_of_a_session_go_with_it(guild: GuildId, media: Path) -> None:
    gone = old_session(guild)
    earlier = left_file(f"transcripts/{guild}/{gone}/1-1.json")
    document = left_file(f"documents/{guild}/{gone}/2-1.json")
    named = left_file(f"transcripts/{guild}/elsewhere.json", session_id=gone)

    assert prune().n_files == 3

    assert not any(path.exists() for path in (earlier, document, named))
    assert not earlier.parent.exists()
    assert media.is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "outside.json",
        f"audio/{STARLING}/track.flac",
        f"transcripts/{MAGPIE}/1-1.json",
        f"transcripts/{STARLING}/../{MAGPIE}/1-1.json",
        f"transcripts/{STARLING}/999/1-1.json",
        f"transcripts/{STARLING}",
        f"transcripts/{STARLING}/link/1-1.json",
    ],
)
def test_a_name_that_is_not_the_sessions_own_removes_nothing(
    guild: GuildId, media: Path, name: str
) -> None:
    elsewhere = media / "elsewhere"
    elsewhere.mkdir(parents=True)
    (media / "transcripts" / str(guild)).mkdir(parents=True)
    (media / "transcripts" / str(guild) / "link").symlink_to(elsewhere)
    session_id = old_session(guild)
    path = media / name
    if not path.is_dir():
        path = left_file(name, session_id=session_id)

    gone = prune()

    assert (gone.n_sessions, gone.n_files) == (1, 0)
    assert path.exists()


def test_a_file_that_is_gone_already_is_no_fault(guild: GuildId) -> None:
    left_file(f"transcripts/{guild}/x.json", session_id=old_session(guild)).unlink()

    assert prune().n_sessions == 1


def test_finding_what_is_old_does_not_read_what_is_not(guild: GuildId) -> None:
    fill(guild, 2000, state="'done'", finished_at="now()")
    fill(guild, 2000)
    fill(guild, 20, state="'done'", finished_at="now() - interval '40 days'")
    write("VACUUM ANALYZE guildqueue_job")
    write("ANALYZE guildqueue_session")

    plan = explain(
        "read_old_sessions", guild_id=guild, ended_before=age_limit(30), after=0, limit=1000
    )

    assert "job_finished" in plan.indexes
    assert not plan.scanned_whole("guildqueue_job")
    assert plan.buffers < 1000


def test_no_such_guild_and_no_such_number_are_refused() -> None:
    with pytest.raises(GuildNotFound):
        prune(MAGPIE)
    with pytest.raises(InvalidInput):
        age_limit(-1)
    with pytest.raises(InvalidInput):
        prune(batch=0)


def test_the_command_prunes_every_guild_and_the_turns_that_nobody_reads(guild: GuildId) -> None:
    old_session(guild, n_tracks=2)
    old_cancelled(stored_guild(MAGPIE))
    write("UPDATE guildqueue_claim_cursor SET claimed_at = now() - interval '31 days'")
    n_turns = count("claim_cursor")
    assert n_turns > 0

    preview = queue("prune", "--older-than", 30, "--dry-run", "--json").json
    assert (preview["dry_run"], preview["sessions"], preview["files"]) == (True, 2, None)
    done = queue("prune", "--older-than", 30, "--json").json

    assert done.pop("ended_before").endswith("Z")
    assert done == {
        "dry_run": False,
        "guilds": [
            {"guild_id": str(guild), "sessions": 1, "jobs": 3},
            {"guild_id": str(MAGPIE), "sessions": 1, "jobs": 2},
        ],
        "sessions": 2,
        "jobs": 5,
        "files": 0,
        "cursors": n_turns,
    }
    assert "removed 0 sessions with 0 jobs" in queue("prune", "--older-than", 30).out


@pytest.mark.parametrize(
    "words",
    [(), ("--older-than", "-1"), ("--older-than", "x"), ("--older-than", 30, "--batch", 0)],
)
def test_a_wrong_call_is_a_usage_error(guild: GuildId, words: tuple[object, ...]) -> None:
    assert queue("prune", *words).code == 2


def test_the_command_names_a_guild_that_is_not_there(guild: GuildId) -> None:
    ended = queue("prune", "-g", MAGPIE, "--older-than", 30)

    assert ended.code == 3
    assert str(MAGPIE) in ended.fault


def test_a_pruned_session_is_no_longer_found(guild: GuildId) -> None:
    gone = old_session(guild)

    prune()

    with pytest.raises(SessionNotFound):
        session_detail(gone)
