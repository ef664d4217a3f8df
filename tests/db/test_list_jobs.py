"""Jobs of any state by a filter, page by page; and how many are claimable."""

from typing import Any

import pytest

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId
from guildqueue.services.depth import queue_depth
from guildqueue.services.hold import hold_guild, hold_session, release_guild
from guildqueue.services.list_jobs import list_jobs
from tests.builders import (
    MAGPIE,
    caller,
    complete,
    dead_session,
    done_session,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def listed(given: dict[str, Any], **asked: Any) -> list[JobId]:
    return [job.id for job in list_jobs(parse_filter(given), **asked).jobs]


def test_a_list_has_jobs_of_every_state_and_kind(guild: GuildId) -> None:
    sessions = [done_session(guild), dead_session(guild), stored_session(guild)]
    newer = track_ids(sessions[2])
    write("UPDATE guildqueue_job SET kind = 'translate', state = 'paused' WHERE id = %s", newer[0])
    everything = [job for session in sessions for job in session_jobs(session)]

    page = list_jobs(JobFilter())

    assert list(page.jobs) == everything
    assert (page.more, page.after) == (False, None)
    assert listed({"states": ["paused"]}) == listed({"kinds": ["translate"]}) == newer


def test_every_field_restricts_a_list(guild: GuildId) -> None:
    done, waiting = done_session(guild), stored_session(guild)
    away = stored_session(stored_guild(MAGPIE))
    track, document = (job.id for job in session_jobs(waiting))
    write("UPDATE guildqueue_job SET labels = '{a,b}', priority = 5 WHERE id = %s", track)
    write("UPDATE guildqueue_job SET assignee_kind = 'human' WHERE id = %s", document)
    ids = {s: [job.id for job in session_jobs(s)] for s in (done, waiting, away)}

    assert listed({"guilds": [str(MAGPIE)]}) == ids[away]
    assert listed({"session": str(done)}) == ids[done]
    assert listed({"states": ["done"]}) == ids[done]
    assert listed({"states": ["done", "pending"], "guilds": [str(guild)]}) == [
        *ids[done],
        *ids[waiting],
    ]
    assert listed({"labels": ["a", "b"]}) == listed({"any_labels": ["b", "c"]}) == [track]
    assert listed({"assignee_kind": "human"}) == [document]
    assert listed({"min_priority": 5, "max_priority": 5}) == [track]
    assert listed({"kinds": ["document"]}) == [ids[done][1], document, ids[away][1]]


def test_held_is_what_waits_under_a_hold_of_session_or_guild(guild: GuildId) -> None:
    session, other = stored_session(guild, n_tracks=2), stored_session(guild)
    (lease,) = running_jobs(session, n=1)
    hold_session(session, guild_id=guild, reason="", caller=caller())
    complete(lease)
    first, *waiting = [job.id for job in session_jobs(session)]
    others = [job.id for job in session_jobs(other)]

    assert listed({"held": True}) == waiting
    assert listed({"held": False}) == [first, *others]
    hold_guild(guild, reason="", caller=caller())
    assert listed({"held": True}) == [*waiting, *others]
    release_guild(guild, caller=caller())
    assert listed({"held": True}) == waiting


def test_pages_follow_each_other_without_a_gap(guild: GuildId) -> None:
    everything = [job.id for job in session_jobs(stored_session(guild, n_tracks=6))]

    pages, after = [], None
    while True:
        page = list_jobs(JobFilter(), after=after, limit=3)
        pages.append([job.id for job in page.jobs])
        after = page.after
        if not page.more:
            break

    assert pages == [everything[:3], everything[3:6], everything[6:]]


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 1001}, {"after": BIGINT_MAX + 1}])
def test_what_cannot_be_asked_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_jobs(JobFilter(), **asked)


def test_depth_counts_what_claims_would_take_by_kind(guild: GuildId) -> None:
    stored_session(guild, n_tracks=3)
    (lease,) = running_jobs(stored_session(guild))
    complete(lease)
    stored_session(stored_guild(MAGPIE, running_cap=2), n_tracks=5)

    assert queue_depth(JobFilter()) == {"transcribe": 5, "document": 1}
    assert queue_depth(parse_filter({"kinds": ["document"]})) == {"document": 1}
    assert queue_depth(parse_filter({"guilds": [str(MAGPIE)]})) == {"transcribe": 2, "document": 0}
    assert queue_depth(parse_filter({"kinds": ["translate"]})) == {}
    with pytest.raises(InvalidInput):
        queue_depth(parse_filter({"held": True}))
