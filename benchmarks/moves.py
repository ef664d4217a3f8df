"""A move beside a bare UPDATE of the same rows, in turn, in one run."""

import statistics
from collections.abc import Callable

from django.db import connection, transaction

from benchmarks.fill import fill_guild, milliseconds, run_sql, spread
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.move import MoveOutcome, move_session
from guildqueue.store import orders

CALLER = Caller(principal=Principal(PrincipalKind.USER, "bench"))
ROUNDS = 9

SPREAD_OUT = "UPDATE guildqueue_job SET priority = 2 * session_id WHERE guild_id = %s"
LEVEL = "UPDATE guildqueue_job SET priority = 0 WHERE guild_id = %s"
BARE_UPDATE = "UPDATE guildqueue_job SET priority = priority + 1 WHERE id = ANY (%s)"


def run() -> None:
    """The two moves that the targets name, and one in an order that was moved before."""
    small, large = GuildId(1_000), GuildId(10_000)
    few = fill_guild(small, n_sessions=1_000, n_jobs=5)
    many = fill_guild(large, n_sessions=10_000, n_jobs=5)
    print("\nA move beside a bare UPDATE of the same rows; milliseconds, median (range)")
    _compare("one place, 10,000 x 5, all at 0", large, LEVEL, lambda: _swap(large, many), keys=True)
    _compare(
        "one place, 10,000 x 5, spread", large, SPREAD_OUT, lambda: _swap(large, many), keys=True
    )
    _compare("last to first, 1,000 x 5", small, LEVEL, lambda: _first(small, few[-1]), keys=False)


def _swap(guild_id: GuildId, sessions: list[int]) -> MoveOutcome:
    """Move the session in the middle behind the one after it."""
    middle = len(sessions) // 2
    return move_session(
        SessionId(sessions[middle]),
        guild_id=guild_id,
        place=Place.AFTER,
        neighbour=SessionId(sessions[middle + 1]),
        caller=CALLER,
    )


def _first(guild_id: GuildId, session_id: int) -> MoveOutcome:
    return move_session(SessionId(session_id), guild_id=guild_id, place=Place.FIRST, caller=CALLER)


def _compare(
    name: str, guild_id: GuildId, reset: str, move: Callable[[], MoveOutcome], *, keys: bool
) -> None:
    moves: list[float] = []
    bare: list[float] = []
    written: list[int] = []
    for round_ in range(ROUNDS + 1):
        _settle(reset, guild_id)
        outcome: list[MoveOutcome] = []
        took = milliseconds(lambda: outcome.append(move()))  # noqa: B023 - called at once
        written = _rows_of(guild_id, outcome[0].changed)
        _settle(reset, guild_id)
        limit = milliseconds(lambda: _limit(guild_id, written, keys=keys))  # noqa: B023
        if round_:  # the first is a warm-up
            moves.append(took)
            bare.append(limit)
    ratio = statistics.median(a / b for a, b in zip(moves, bare, strict=True))
    limit_name = "UPDATE + keys" if keys else "UPDATE"
    print(
        f"{name:34} rows {len(written):6}  move {spread(moves)}  {limit_name} {spread(bare)}"
        f"  ratio {ratio:.2f}"
    )


def _settle(reset: str, guild_id: GuildId) -> None:
    run_sql(reset, [guild_id])
    run_sql("VACUUM guildqueue_job")
    run_sql("CHECKPOINT")


def _rows_of(guild_id: GuildId, changed: tuple[SessionId, ...]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM guildqueue_job WHERE guild_id = %s AND session_id = ANY (%s)",
            [guild_id, list(changed)],
        )
        return [row[0] for row in cursor.fetchall()]


def _limit(guild_id: GuildId, ids: list[int], *, keys: bool) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        if keys:
            orders.read_order(guild_id)
        cursor.execute(BARE_UPDATE, [ids])
