"""Guilds take turns: whose job a claim takes, and what moves the cursor."""

import pytest

from guildqueue.domain.filters import parse_filter
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.claim import claim_jobs
from guildqueue.services.hold import hold_guild
from guildqueue.services.move import move_session
from guildqueue.store.cursors import prune_cursors
from tests.builders import MAGPIE, STARLING, caller, expire_lease, stored_guild, stored_session
from tests.db.races import half_done, query
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")
ROOK = GuildId(118000000000000003)


@pytest.fixture
def guilds() -> list[GuildId]:
    return [stored_guild(STARLING), stored_guild(MAGPIE), stored_guild(ROOK)]


def tracks(guild_id: GuildId, n: int) -> SessionId:
    return stored_session(guild_id, n_tracks=n)


def turns(n: int, by: str = "loop") -> list[GuildId]:
    """The guilds of ``n`` single claims, one after the other."""
    leases = [lease for _ in range(n) for lease in claim_jobs(by, ttl_s=60)]
    return [lease.job.guild_id for lease in leases]


def cursors() -> int:
    ((n,),) = query("SELECT count(*) FROM guildqueue_claim_cursor")
    return int(n)


def test_two_guilds_with_one_job_each_give_one_to_each_of_two_claims(
    guilds: list[GuildId],
) -> None:
    tracks(STARLING, 1)
    tracks(MAGPIE, 1)

    assert sorted(turns(2)) == [STARLING, MAGPIE]


def test_turns_go_round_by_ascending_id_and_pass_over_guilds_without_work(
    guilds: list[GuildId],
) -> None:
    tracks(STARLING, 4)
    tracks(ROOK, 2)

    assert turns(6) == [STARLING, ROOK, STARLING, ROOK, STARLING, STARLING]


def test_a_meeting_moved_first_is_its_guilds_next_turn(guilds: list[GuildId]) -> None:
    tracks(MAGPIE, 9)
    tracks(STARLING, 3)
    retrospective = tracks(STARLING, 3)

    move_session(retrospective, guild_id=STARLING, place=Place.FIRST, caller=caller())
    leases = [lease for _ in range(4) for lease in claim_jobs("loop", ttl_s=60)]

    of_starling = [lease.job.session_id for lease in leases if lease.job.guild_id == STARLING]
    assert of_starling == [retrospective, retrospective]


def test_two_loops_with_different_filters_do_not_share_a_rotation(guilds: list[GuildId]) -> None:
    tracks(STARLING, 4)
    tracks(MAGPIE, 4)

    (all_kinds,) = claim_jobs("loop", ttl_s=60)
    (one_kind,) = claim_jobs("loop", filter=parse_filter({"kinds": ["transcribe"]}), ttl_s=60)

    assert all_kinds.job.guild_id == one_kind.job.guild_id == STARLING


def test_two_principals_do_not_share_a_rotation(guilds: list[GuildId]) -> None:
    tracks(STARLING, 2)
    tracks(MAGPIE, 2)

    assert turns(1, by="a") == turns(1, by="b") == [STARLING]


def test_a_claim_of_many_takes_what_single_claims_would(guilds: list[GuildId]) -> None:
    for guild_id in guilds:
        tracks(guild_id, 2)

    taken = [lease.job.guild_id for lease in claim_jobs("loop", count=5, ttl_s=60)]

    assert taken == [STARLING, MAGPIE, ROOK, STARLING, MAGPIE]


def test_the_lane_comes_first_and_uses_up_no_turn(guilds: list[GuildId]) -> None:
    tracks(STARLING, 2)
    lane = tracks(ROOK, 1)
    write("UPDATE guildqueue_job SET bump_seq = 1 WHERE session_id = %s AND unmet = 0", lane)

    assert turns(3) == [ROOK, STARLING, STARLING]
    assert cursors() == 1  # the second turn of one guild leaves the cursor where it is


def test_an_empty_claim_leaves_the_cursor_where_it_was(guilds: list[GuildId]) -> None:
    tracks(STARLING, 1)
    turns(1)

    assert turns(1) == []
    assert cursors() == 1


def test_a_held_guild_is_passed_over(guilds: list[GuildId]) -> None:
    tracks(STARLING, 1)
    tracks(MAGPIE, 1)

    hold_guild(STARLING, reason="", caller=caller())

    assert turns(2) == [MAGPIE]


def test_a_guild_whose_work_is_locked_loses_its_turn_not_its_place(guilds: list[GuildId]) -> None:
    first = tracks(STARLING, 1)
    tracks(MAGPIE, 1)

    def lock() -> None:
        query("SELECT id FROM guildqueue_job WHERE session_id = %s FOR NO KEY UPDATE", [first])

    with half_done(lock, commit=False):
        assert turns(1) == [MAGPIE]

    assert turns(1) == [STARLING]


def test_an_expired_lease_and_a_due_retry_give_their_guild_a_turn(guilds: list[GuildId]) -> None:
    tracks(STARLING, 1)
    tracks(MAGPIE, 1)
    lost, failed = (lease.job.id for lease in claim_jobs("lost", count=2, ttl_s=60))
    expire_lease(JobId(lost))
    write(
        "UPDATE guildqueue_job SET state = 'pending', lease_by = NULL, lease_expires_at = NULL,"
        " run_after = now() - interval '1 s' WHERE id = %s",
        failed,
    )

    assert turns(3) == [STARLING, MAGPIE]


def test_pruning_keeps_the_newest_turn_of_every_rotation(guilds: list[GuildId]) -> None:
    tracks(STARLING, 3)
    tracks(MAGPIE, 3)
    turns(3, by="a")
    turns(1, by="b")

    assert prune_cursors() == 2

    assert turns(1, by="a") == [MAGPIE]
    assert cursors() == 3


def test_a_rotation_that_nobody_used_for_a_month_is_forgotten(guilds: list[GuildId]) -> None:
    tracks(STARLING, 1)
    turns(1)
    write("UPDATE guildqueue_claim_cursor SET claimed_at = now() - interval '31 days'")

    assert prune_cursors() == 1
    assert cursors() == 0
