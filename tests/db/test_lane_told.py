"""What else a request of the lane does: who hears of it, and what it costs among many jobs."""

from pathlib import Path

import pytest

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.services.bump import bump_job
from tests.db.lane_requests import bumped, chain, rooted_guild, stranger, tracks_alone, unbumped
from tests.db.stored import write
from tests.db.test_explain import explain, fill
from tests.db.test_notify import listener

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path)


def test_what_changes_the_lane_is_heard_of_once_and_nothing_else_is(
    guild: GuildId, database_url: str
) -> None:
    [job_id] = tracks_alone(guild, 1)

    with listener(database_url) as said:
        bumped(job_id)
        assert said() == [str(guild)]
        bumped(job_id)
        bumped(JobId(999_999))
        bump_job(job_id, guild_id=guild, asker=stranger())
        assert said() == []
        unbumped(job_id)
        assert said() == [str(guild)]


def test_a_request_reads_the_lane_and_what_it_reaches_and_no_more(guild: GuildId) -> None:
    fill(guild, 4_000)
    jobs = chain(guild, 20)
    bumped(jobs[9])
    write("VACUUM ANALYZE guildqueue_job, guildqueue_job_dependency")

    plan = explain("find_lane_jobs", guild_id=guild, targets=[jobs[-1]])

    assert "job_lane" in plan.indexes
    assert not plan.scanned_whole("guildqueue_job")
    assert plan.buffers < 800


@pytest.mark.parametrize("shape", ["a-chain", "side-by-side"])
def test_many_needs_are_walked_by_their_index_however_few_others_there_are(
    guild: GuildId, shape: str
) -> None:
    jobs = chain(guild, 1_001)
    if shape == "side-by-side":
        write("UPDATE guildqueue_job_dependency SET job_id = %s", jobs[-1])
    write("VACUUM ANALYZE guildqueue_job, guildqueue_job_dependency")

    plan = explain("find_lane_jobs", guild_id=guild, targets=[jobs[-1]])

    assert not plan.scanned_whole("guildqueue_job_dependency")
    assert plan.buffers < 1_001 * 8


def test_the_lane_is_shown_without_looking_at_what_waits(guild: GuildId) -> None:
    fill(guild, 4_000)
    jobs = chain(guild, 20)
    bumped(jobs[9])
    write("VACUUM ANALYZE guildqueue_job, guildqueue_session")

    plan = explain("read_lane_notes", guild_id=guild)

    assert "job_lane" in plan.indexes
    assert not plan.scanned_whole("guildqueue_job")
    assert plan.buffers < 200
