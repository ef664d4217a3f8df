"""Which guild has the next turn."""

from guildqueue.domain.ids import GuildId
from guildqueue.domain.turns import next_guild, turn_order


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
