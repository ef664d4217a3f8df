"""``queue token``: bearer tokens for machines."""

from typing import Any

from guildqueue.domain.ids import TokenId
from guildqueue.domain.token import Bearer, Verb
from guildqueue.domain.wire import ids
from guildqueue.management.arguments import (
    Options,
    add_guild,
    add_subcommand,
    chosen_guilds,
    identifier,
)
from guildqueue.management.ending import Misused, Refused
from guildqueue.management.output import Output
from guildqueue.services.browse import guild_record
from guildqueue.services.tokens import issue_token, list_tokens, revoke_token


def add_subcommands(subparsers: Any) -> None:
    about = "Make, list and revoke bearer tokens."
    parser = subparsers.add_parser("token", help=about, description=about)
    verbs = parser.add_subparsers(dest="token_verb", required=True, metavar="create|list|revoke")
    making = add_subcommand(
        verbs, "create", run_create, about="A new token, shown this once and never again."
    )
    making.add_argument("name", metavar="NAME", help="what it is for")
    making.add_argument("--user", metavar="USER", help="it acts as this user, who scopes it")
    making.add_argument(
        "--verb", dest="verbs", action="append", choices=list(Verb), help="repeatable"
    )
    making.add_argument("--source", metavar="NAME", help="the declared source it may speak for")
    add_guild(making, meaning="a guild it is for, repeatable")
    add_subcommand(verbs, "list", run_list, about="The tokens that can be used.")
    revoking = add_subcommand(verbs, "revoke", run_revoke, about="End a token, at once.")
    revoking.add_argument("token_id", type=identifier, metavar="ID")


def run_create(out: Output, options: Options) -> None:
    username, verbs = options["user"], options["verbs"] or []
    if username is not None and (options["guilds"] or verbs):
        raise Misused("--user gives that user's own scope: no -g/--guild and no --verb with it")
    guilds = [] if username is not None else chosen_guilds(options["guilds"])
    # The figures of a deployment are no guild's own.
    if username is None and not (verbs and (guilds or set(verbs) == {Verb.METRICS})):
        raise Misused("either --user USER, or at least one -g/--guild and one --verb")
    for guild_id in guilds:
        guild_record(guild_id)
    token = issue_token(
        options["name"],
        username=username,
        guild_ids=guilds,
        verbs=verbs,
        source=options["source"],
    )
    body = {
        "name": options["name"],
        "username": username,
        "guilds": ids(guilds),
        "verbs": [str(verb) for verb in verbs],
        "source": options["source"],
        "token": token,
    }
    out.tell(body, token)


def run_list(out: Output, _options: Options) -> None:
    tokens = list_tokens()
    out.table(
        {"tokens": [_body(token) for token in tokens]},
        ("id", "name", "user", "verbs", "source", "guilds"),
        (
            (t.token_id, t.name, t.username, " ".join(sorted(t.verbs)), t.source, _guilds(t))
            for t in tokens
        ),
    )


def _guilds(token: Bearer) -> str:
    return " ".join(ids(sorted(token.guild_ids)))


def _body(token: Bearer) -> dict[str, Any]:
    return {
        "token_id": str(token.token_id),
        "name": token.name,
        "username": token.username,
        "guilds": ids(sorted(token.guild_ids)),
        "verbs": sorted(token.verbs),
        "source": token.source,
    }


def run_revoke(out: Output, options: Options) -> None:
    token_id = options["token_id"]
    if not revoke_token(TokenId(token_id)):
        raise Refused(f"no token {token_id} that can be used")
    out.tell({"token_id": str(token_id), "revoked": True}, f"revoked token {token_id}")
