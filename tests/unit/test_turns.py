"""Which guild has the next turn."""

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.turns import InLine, Slots, claims_in_turns, next_guild, turn_order


def guilds(*ids: int) -> list[GuildId]:
    return [GuildId(number) for number in ids]


def test_without_a_cursor_the_first_guild_begins() -> None:
    assert next_guild(None, guilds(3, 5, 9)) == 3


def test_the_turn_goes_to_the_guild_after_the_last_one() -> None:
    assert next_guild(GuildId(5), guilds(3, 5, 9)) == 9


def test_after_the_last_guild_the_turn_goes_round() -> None:
    assert next_guild(GuildId(9), guilds(3, 5, 9)) == 3


def test_a_cursor_on_a_guild_that_is_no_longer_eligible_keeps_its_place() -> None:
    assert next_guild(GuildId(5), guilds(3, 9)) == 9
    assert next_guild(GuildId(10), guilds(3, 9)) == 3


def test_a_single_guild_has_every_turn() -> None:
    assert next_guild(GuildId(5), guilds(5)) == 5
    assert next_guild(None, guilds(5)) == 5


def test_nobody_has_a_turn_where_none_is_eligible() -> None:
    assert next_guild(GuildId(5), []) is None
    assert turn_order(None, []) == []


def test_one_round_gives_every_guild_one_turn_the_last_one_at_the_end() -> None:
    assert turn_order(GuildId(5), guilds(3, 5, 9)) == [9, 3, 5]


def line(guild_id: int, *job_ids: int, lost: tuple[int, ...] = ()) -> list[InLine]:
    return [InLine(JobId(n), GuildId(guild_id), is_lost=n in lost) for n in job_ids]


def taken(lines: list[list[InLine]], *, last: int | None = None, **free: int) -> list[int]:
    """Jobs in the order of claims; ``free`` are slots as ``g3=1``."""
    slots = Slots({GuildId(int(name[1:])): n for name, n in free.items()})
    by_guild = {of[0].guild_id: of for of in lines}
    after = None if last is None else GuildId(last)
    return [job.job_id for job in claims_in_turns(by_guild, slots, last=after)]


def test_guilds_give_one_job_a_turn_until_each_has_none_left() -> None:
    assert taken([line(3, 1, 4, 7), line(5, 2), line(9, 3, 6)]) == [1, 2, 3, 4, 6, 7]
    assert taken([line(3, 1, 4, 7), line(5, 2)], last=3) == [2, 1, 4, 7]
    assert taken([]) == []


def test_a_full_guild_gives_its_lost_leases_alone() -> None:
    lines = [line(3, 1, 2, 3, 4, lost=(3,)), line(5, 10, 11)]

    assert taken(lines, g3=0) == [3, 10, 11]
    assert taken(lines, g3=1) == [1, 10, 3, 11]
    assert taken(lines, g3=-2, g5=1) == [3, 10]
