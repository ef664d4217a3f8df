"""Quick actions on the stored queue: what ranks, what is written, what a preview leaves alone."""

import pytest
from django.db import transaction

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId
from guildqueue.domain.moves import Place
from guildqueue.services.apply_rule import apply_rule, preview_rule
from guildqueue.services.browse import events_page
from guildqueue.services.move import move_session
from guildqueue.services.requeue import requeue_job
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    MAGPIE,
    caller,
    complete,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
)
from tests.db.races import begun, half_done
from tests.db.stored import line, numbers, put_in_lane, row_versions, wrote_anything

MANY_PEOPLE = "many-participants-first"
SHORT = "short-recordings-first"

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def test_participants_are_counted_and_not_tracks(guild: GuildId) -> None:
    many_tracks = stored_session(guild, n_tracks=4, participants=2)
    many_people = stored_session(guild, n_tracks=1, participants=5)
    nobody = stored_session(guild, n_tracks=1, participants=0)

    outcome = apply_rule(guild, rule=MANY_PEOPLE, caller=caller())

    assert line(guild) == [many_people, many_tracks, nobody]
    assert outcome.order == tuple(numbers(guild).items())


def test_an_unmeasured_track_makes_its_session_rank_last_and_keep_its_place(guild: GuildId) -> None:
    partly = stored_session(guild, n_tracks=2, audio_seconds=[1.0, None])
    long = stored_session(guild, audio_seconds=900.0)
    unknown = stored_session(guild, audio_seconds=None)
    silent = stored_session(guild, audio_seconds=0.0)
    without_tracks = stored_session(guild, n_tracks=0, recording=True)

    apply_rule(guild, rule=SHORT, caller=caller())

    assert line(guild) == [silent, long, partly, unknown]
    assert without_tracks not in line(guild)


def test_tracks_that_are_done_still_count_towards_the_length(guild: GuildId) -> None:
    nearly_done = stored_session(guild, n_tracks=2, audio_seconds=[3000.0, 1.0])
    short = stored_session(guild, audio_seconds=60.0)
    (long_track, *_) = running_jobs(nearly_done, n=1)
    complete(long_track)

    apply_rule(guild, rule=SHORT, caller=caller())

    assert line(guild) == [short, nearly_done]


def test_a_length_measured_by_a_worker_outlives_a_requeue(guild: GuildId) -> None:
    long = stored_session(guild, audio_seconds=None)
    short = stored_session(guild, audio_seconds=60.0)
    (track,) = running_jobs(long)
    complete(track, audio_seconds=1200.0)
    requeue_job(track.job.id, guild_id=guild, caller=caller())

    apply_rule(guild, rule=SHORT, caller=caller())

    assert line(guild) == [short, long]
    assert session_jobs(long)[0].audio_seconds == 1200.0


def test_equal_sessions_keep_the_order_that_was_moved(guild: GuildId) -> None:
    a, b, c = [stored_session(guild, participants=3) for _ in range(3)]
    move_session(c, guild_id=guild, place=Place.FIRST, caller=caller())

    outcome = apply_rule(guild, rule=MANY_PEOPLE, caller=caller())

    assert outcome.changed == ()
    assert line(guild) == [c, a, b]


@pytest.mark.parametrize("rule", [MANY_PEOPLE, SHORT])
def test_a_rule_applied_again_writes_nothing(guild: GuildId, rule: str) -> None:
    for n in (1, 3, 2):
        stored_session(guild, participants=n, audio_seconds=100.0 / n)
    apply_rule(guild, rule=rule, caller=caller())
    versions = row_versions()

    with transaction.atomic():
        outcome = apply_rule(guild, rule=rule, caller=caller())
        wrote = wrote_anything()

    assert outcome.changed == ()
    assert not wrote
    assert row_versions() == versions


def test_a_preview_is_what_the_rule_then_does_and_writes_nothing(guild: GuildId) -> None:
    for n in (1, 4, 2):
        stored_session(guild, participants=n)
    versions = row_versions()

    with transaction.atomic():
        preview = preview_rule(guild, rule=MANY_PEOPLE)
        wrote = wrote_anything()

    assert not wrote
    assert row_versions() == versions
    assert apply_rule(guild, rule=MANY_PEOPLE, caller=caller()) == preview


def test_an_unknown_rule_is_refused_with_the_known_ones(guild: GuildId) -> None:
    stored_session(guild)
    versions = row_versions()

    with pytest.raises(InvalidInput, match=f"{MANY_PEOPLE}, {SHORT}"):
        apply_rule(guild, rule="mine-first", caller=caller())
    with pytest.raises(InvalidInput, match=f"{MANY_PEOPLE}, {SHORT}"):
        preview_rule(guild, rule="mine-first")

    assert row_versions() == versions


def test_a_session_in_the_lane_is_left_out(guild: GuildId) -> None:
    few = stored_session(guild, participants=1)
    bumped = stored_session(guild, participants=2)
    many = stored_session(guild, participants=3)
    put_in_lane([job.id for job in session_jobs(bumped)])

    outcome = apply_rule(guild, rule=MANY_PEOPLE, caller=caller())

    assert outcome.order == ((many, 0), (few, 1))
    assert {job.priority for job in session_jobs(bumped)} == {0}


def test_another_guilds_order_is_left_alone(guild: GuildId) -> None:
    other = stored_guild(MAGPIE)
    for guild_id in (guild, other):
        for n in (1, 2):
            stored_session(guild_id, participants=n)
    before = numbers(other)

    apply_rule(guild, rule=MANY_PEOPLE, caller=caller())

    assert numbers(other) == before


def test_the_rule_is_recorded_and_shown_on_every_session_it_moved(guild: GuildId) -> None:
    few = stored_session(guild, participants=1)
    many = stored_session(guild, participants=2)

    apply_rule(guild, rule=MANY_PEOPLE, caller=caller("björk"))

    (record,) = events_page(guild)
    assert (record.type, record.by) == ("RuleApplied", "user:björk")
    assert record.changed == {"rule": MANY_PEOPLE, "sessions": [str(few)]}
    moves = {entry.session_id: entry.last_move for entry in queue_snapshot(guild).sessions}
    assert moves[many] is None
    assert (last := moves[few]) is not None
    assert (last.by, last.place) == ("user:björk", MANY_PEOPLE)


def test_a_session_that_ends_under_the_rule_is_not_listed(guild: GuildId) -> None:
    ending, staying, many = [stored_session(guild, participants=n) for n in (1, 2, 3)]
    (track,) = running_jobs(ending)
    complete(track)
    (document,) = running_jobs(ending)

    with (
        half_done(lambda: complete(document), commit=True) as completing,
        begun(lambda: apply_rule(guild, rule=MANY_PEOPLE, caller=caller())) as applying,
    ):
        applying.wait_until_blocked()
        completing.end()

        assert applying.result().changed == (staying,)

    assert line(guild) == [many, staying]
