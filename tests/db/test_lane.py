"""The lane in the database: what a request writes, records, sweeps, refuses and says to nobody."""

import ast
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from guildqueue.domain.errors import GuildNotFound
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane import LaneJob, running_order, standing_of
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.order import SortKey
from guildqueue.services.browse import events_page
from guildqueue.services.bump import bump_job, bump_session
from guildqueue.services.hold import hold_session
from guildqueue.services.read_lane import guild_lane
from guildqueue.services.register_guild import register_guild
from guildqueue.services.requeue_bumped import requeue_job_bumped, requeue_session_bumped
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.services.unbump import unbump_job, unbump_session
from guildqueue.store.statements import load_statements
from tests.builders import (
    MAGPIE,
    caller,
    cancelled_session,
    document_id,
    done_session,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.lane_requests import (
    bumped,
    bumped_session,
    chain,
    lane,
    named,
    operator,
    rooted_guild,
    stranger,
    tracks_alone,
    unbumped,
)
from tests.db.races import query
from tests.db.stored import write

pytestmark = pytest.mark.django_db

PACKAGE = Path(settings.BASE_DIR) / "queue" / "guildqueue"


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path, sources=("nightly-import",))


def text(*job_ids: JobId) -> tuple[str, ...]:
    return tuple(map(str, job_ids))


def test_a_session_is_bumped_whole_with_its_tracks_before_its_document(guild: GuildId) -> None:
    stored_session(guild)
    session = stored_session(guild, n_tracks=3)
    jobs = [*track_ids(session), document_id(session)]

    outcome = bumped_session(session)

    assert (outcome.moved, outcome.session_id, outcome.job_id) == (text(*jobs), str(session), None)
    assert lane() == jobs
    assert named() == set(jobs)
    assert queue_snapshot(guild).sessions[0].session_id == session
    assert queue_snapshot(guild).sessions[0].in_lane


def test_a_session_is_taken_back_as_one_set(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    bumped_session(session)

    outcome = unbump_session(session, guild_id=guild, asker=operator())

    assert outcome.accepted
    assert lane() == []


def test_a_bump_of_a_finished_session_is_a_noop_and_an_unbump_is_refused(guild: GuildId) -> None:
    session = done_session(guild)
    empty = stored_session(guild, n_tracks=0, recording=True)

    for finished in (session, empty):
        assert bumped_session(finished).accepted
        refused = unbump_session(finished, guild_id=guild, asker=operator())
        assert refused.refusal == "finished"
    assert lane() == []


@pytest.mark.parametrize("ask", [bump_session, unbump_session])
def test_a_session_of_another_guild_is_no_such_session(
    guild: GuildId, ask: Callable[..., LaneOutcome]
) -> None:
    elsewhere = stored_session(stored_guild(MAGPIE))

    outcomes = [ask(s, guild_id=guild, asker=operator()) for s in (elsewhere, SessionId(9**9))]

    assert [outcome.refusal for outcome in outcomes] == ["no-such-session"] * 2


@pytest.mark.parametrize("ask", [bump_job, unbump_job])
def test_a_job_of_another_guild_is_no_such_job(
    guild: GuildId, ask: Callable[..., LaneOutcome]
) -> None:
    [elsewhere] = tracks_alone(stored_guild(MAGPIE), 1)

    outcome = ask(elsewhere, guild_id=guild, asker=operator())

    assert outcome.refusal == "no-such-job"
    assert [record.type for record in events_page(guild)] == ["PriorityRefused"]


def test_a_request_in_no_guild_is_nowhere_on_record() -> None:
    with pytest.raises(GuildNotFound):
        bump_job(JobId(1), guild_id=GuildId(5), asker=operator())

    assert query("SELECT count(*) FROM guildqueue_queue_event") == [(0,)]


def test_nothing_of_the_queue_is_read_before_the_grant_is_judged(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)

    with CaptureQueriesContext(connection) as asked:
        outcome = bump_job(job_id, guild_id=guild, asker=stranger(), reason="please")

    assert outcome.refusal == "not-granted"
    assert not [q for q in asked.captured_queries if "guildqueue_job" in q["sql"]]
    [record] = events_page(guild)
    assert (record.by, record.reason, record.untrusted) == ("account:tester", "please", True)


def test_a_guild_whose_root_is_not_there_refuses_and_records(guild: GuildId) -> None:
    [job_id] = tracks_alone(guild, 1)
    register_guild(guild, root="/nowhere/at/all")

    outcome = bumped(job_id)

    assert outcome.refusal == "not-granted"
    assert "/nowhere/at/all" in outcome.note
    assert events_page(guild)[0].type == "PriorityRefused"


def test_the_record_names_the_meeting_and_what_moved(guild: GuildId) -> None:
    session = stored_session(guild, title="retrospective", n_tracks=2)

    bump_job(
        document_id(session),
        guild_id=guild,
        asker=operator(source="nightly-import"),
        reason="at noon",
        correlation_id="7f",
    )

    [record] = events_page(guild)
    assert (record.by, record.reason, record.correlation_id) == (
        "source:nightly-import",
        "at noon",
        "7f",
    )
    assert record.changed == {
        "verb": "bump",
        "job_id": str(document_id(session)),
        "session_id": str(session),
        "title": "retrospective",
        "moved": list(text(*track_ids(session), document_id(session))),
        "named": [str(document_id(session))],
        "already": [],
        "removed": [],
        "skipped": [],
        "note": "",
    }


def test_the_lane_shows_who_let_each_job_run_next_and_why(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=1)
    bumped(document_id(session), reason="see postgres://ada:hunter2@db/queue")

    pulled, by_name = guild_lane(guild).jobs

    assert (pulled.named, by_name.named) == (False, True)
    assert pulled.by == by_name.by == events_page(guild)[0].by
    assert by_name.at is not None
    assert "hunter2" not in by_name.reason


def test_jobs_of_an_unknown_kind_have_no_place_in_line(guild: GuildId) -> None:
    [known, newer] = tracks_alone(guild, 2)
    write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", newer)

    assert [job.job_id for job in guild_lane(guild).unplaced] == [newer]
    assert bumped(newer).refusal == "newer-release"
    assert bumped(known).accepted


def test_a_state_that_only_a_newer_release_knows_is_left_in_the_lane(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=1)
    [track] = track_ids(session)
    bumped(document_id(session))
    write("UPDATE guildqueue_job SET state = 'paused' WHERE id = %s", track)

    outcome = unbumped(document_id(session))

    assert (outcome.removed, outcome.skipped) == (text(document_id(session)), text(track))
    assert lane() == [track]


def test_a_held_job_is_bumped_with_a_note(guild: GuildId) -> None:
    session = stored_session(guild)
    hold_session(session, guild_id=guild, reason="", caller=caller())

    outcome = bumped(track_ids(session)[0])

    assert outcome.accepted
    assert "(hold)" in outcome.note


def test_requeue_bump_requeues_and_names_in_one_step(guild: GuildId) -> None:
    tracks_alone(guild, 1)
    session = cancelled_session(guild)

    outcome = requeue_session_bumped(session, guild_id=guild, asker=operator())

    assert outcome.accepted
    assert lane() == [*track_ids(session), document_id(session)]
    assert [r.type for r in events_page(guild)][:2] == ["PriorityBumped", "Requeued"]


def test_requeue_bump_repeated_after_an_unbump_bumps_again(guild: GuildId) -> None:
    session = cancelled_session(guild)
    [track] = track_ids(session)
    requeue_job_bumped(track, guild_id=guild, asker=operator())
    unbumped(track)

    outcome = requeue_job_bumped(track, guild_id=guild, asker=operator())

    assert outcome.moved == text(track)


def test_requeue_bump_without_the_grant_requeues_nothing(guild: GuildId) -> None:
    session = cancelled_session(guild)

    outcome = requeue_session_bumped(session, guild_id=guild, asker=stranger())

    assert outcome.refusal == "not-granted"
    assert query("SELECT DISTINCT state FROM guildqueue_job") == [("cancelled",)]


def test_requeue_bump_that_is_refused_requeues_nothing(guild: GuildId) -> None:
    session = cancelled_session(guild)

    outcome = requeue_job_bumped(document_id(session), guild_id=guild, asker=operator())

    assert outcome.refusal == "dependency-failed"
    assert query("SELECT DISTINCT state FROM guildqueue_job") == [("cancelled",)]
    assert events_page(guild)[0].type == "PriorityRefused"


def test_the_claims_order_is_the_domains(guild: GuildId) -> None:
    jobs = tracks_alone(guild, 5)
    bumped(jobs[3])
    bumped(jobs[1])
    write("UPDATE guildqueue_job SET priority = 7 WHERE id = %s", jobs[0])
    stored = query(
        "SELECT id, state, kind, priority, bump_seq FROM guildqueue_job WHERE unmet = 0"
        " ORDER BY bump_seq, priority, id"
    )

    ordered = running_order(
        LaneJob(
            id=job_id,
            standing=standing_of(state, kind),
            sort_key=SortKey(priority, job_id),
            bump_seq=bump_seq,
        )
        for job_id, state, kind, priority, bump_seq in reversed(stored)
    )

    assert [job.id for job in ordered] == [row[0] for row in stored]
    assert "ORDER BY bump_seq, priority, id" in " ".join(load_statements()["claim_jobs"].split())


@pytest.mark.alone
def test_a_thousand_dependencies_come_along_quickly(guild: GuildId) -> None:
    jobs = chain(guild, 1_001)
    took_ms = []
    for _ in range(5):
        began = perf_counter()
        outcome = bumped(jobs[-1])
        took_ms.append((perf_counter() - began) * 1_000)
        assert len(outcome.moved) == 1_001
        unbumped(jobs[-1])

    # 150 on a machine of its own; the tests share theirs.
    assert statistics.median(took_ms) < 600


def importers_of(module: str) -> set[str]:
    """The modules of the product that import it, as paths below the package."""
    package, _, name = module.rpartition(".")
    found = set()
    for root in (PACKAGE, PACKAGE.parent / "recordings", Path(settings.BASE_DIR) / "console"):
        for path in root.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (
                    node.module == module
                    or (node.module == package and name in {n.name for n in node.names})
                ):
                    found.add(path.relative_to(Path(settings.BASE_DIR)).as_posix())
                if isinstance(node, ast.Import) and module in {n.name for n in node.names}:
                    found.add(path.as_posix())
    return found


def test_only_the_service_that_judges_the_grant_reaches_the_lanes_store() -> None:
    assert importers_of("guildqueue.store.lane") == {"queue/guildqueue/services/lane_request.py"}
    assert importers_of("guildqueue.services.lane_request") == {
        f"queue/guildqueue/services/{name}.py" for name in ("bump", "unbump", "requeue_bumped")
    }


def test_no_other_statement_puts_a_job_into_the_lane() -> None:
    lane_sql = (PACKAGE / "store" / "sql" / "lane.sql").read_text("utf-8")
    writers = {
        name
        for name, statement in load_statements().items()
        if ("bump_seq =" in statement.replace("bump_seq = NULL", "") and "UPDATE" in statement)
        or "bump_named = true" in statement
    }

    assert writers == {"enter_lane", "name_in_lane"}
    assert all(f"-- name: {name}" in lane_sql for name in writers)
