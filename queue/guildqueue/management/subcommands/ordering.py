"""``queue move`` and ``queue rule``: change the order."""

from collections.abc import Callable
from typing import Any

from guildqueue.domain.errors import MoveRefused, RequestRefused
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.rules import KNOWN_RULES
from guildqueue.domain.wire import decision_body
from guildqueue.management.account import account_caller
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    identifier,
    session_in_guild,
    sole_guild,
)
from guildqueue.management.output import Output
from guildqueue.services.apply_rule import apply_rule, preview_rule
from guildqueue.services.browse import guild_record
from guildqueue.services.move import MoveOutcome, move_session
from guildqueue.services.read_order import current_order


def add_subcommands(subparsers: Any) -> None:
    moving = add_subcommand(subparsers, "move", run_move, about="Put a session in its place.")
    moving.add_argument("session_id", type=identifier, metavar="SESSION")
    place = moving.add_mutually_exclusive_group(required=True)
    for word in (Place.FIRST, Place.LAST):
        place.add_argument(f"--{word}", dest="end", action="store_const", const=word)
    for word in (Place.BEFORE, Place.AFTER):
        place.add_argument(f"--{word}", type=identifier, metavar="SESSION")
    add_guild(moving, meaning="only if it is this guild's")
    ruling = add_subcommand(subparsers, "rule", run_rule, about="Order the queue by a rule.")
    ruling.add_argument("name", metavar="NAME", help=" or ".join(KNOWN_RULES))
    ruling.add_argument("--preview", action="store_true", help="say what it would do, do nothing")
    add_guild(ruling, meaning="the guild")


def run_move(out: Output, options: Options) -> None:
    session_id = SessionId(options["session_id"])
    guild_id = session_in_guild(session_id, options["guilds"])
    place, neighbour = _place(options)
    outcome = _decided(
        out,
        guild_id,
        lambda: move_session(
            session_id,
            guild_id=guild_id,
            place=place,
            neighbour=neighbour,
            caller=account_caller(),
        ),
    )
    out.tell(decision_body(None, outcome.changed, outcome.order), _moved(session_id, outcome))


def _place(options: Options) -> tuple[Place, SessionId | None]:
    for place in (Place.BEFORE, Place.AFTER):
        if options[place] is not None:
            return place, SessionId(options[place])
    return Place(options["end"]), None


def _moved(session_id: SessionId, outcome: MoveOutcome) -> str:
    if not outcome.changed:
        return f"nothing to do: session {session_id} is there already"
    if outcome.place_after is None:
        return f"moved session {session_id}"
    return f"moved session {session_id} to place {outcome.place_after} of {outcome.n_waiting}"


def run_rule(out: Output, options: Options) -> None:
    guild_id = guild_record(sole_guild(options["guilds"])).id
    rule: str = options["name"]
    if options["preview"]:
        outcome = preview_rule(guild_id, rule=rule)
        words = f"would write {len(outcome.changed)} sessions" if outcome.changed else "no change"
    else:
        caller = account_caller()
        outcome = _decided(out, guild_id, lambda: apply_rule(guild_id, rule=rule, caller=caller))
        words = f"wrote {len(outcome.changed)} sessions" if outcome.changed else "nothing to do"
    lines = [f"{place}. {session}" for place, (session, _) in enumerate(outcome.order, start=1)]
    out.tell(
        decision_body(None, outcome.changed, outcome.order),
        f"{rule}: {words}",
        *(lines if outcome.changed else ()),
    )


def _decided(out: Output, guild_id: GuildId, decide: Callable[[], MoveOutcome]) -> MoveOutcome:
    """What ``decide`` did; a refusal is answered in the contract's shape before it goes on."""
    try:
        return decide()
    except RequestRefused as refused:
        if out.as_json:
            order = refused.order if isinstance(refused, MoveRefused) else current_order(guild_id)
            out.tell(decision_body(refused.refusal, (), order))
        raise
