"""The people of the access tests, none of whom may see the guild, and what they ask for."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Kind
from guildqueue.domain.token import Verb
from guildqueue.services.complete import complete_job
from guildqueue.services.membership import remove_administrator
from guildqueue.services.tokens import issue_token
from tests import builders
from tests.web.routes import Route

Scene = Mapping[str, object]


@dataclass
class Person:
    """``refused_with`` are the statuses that an address of the guild may give them."""

    client: Client
    is_signed_in: bool
    headers: dict[str, str] = field(default_factory=dict)


def _signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def _bearer(username: str | None = None, **scope: Any) -> dict[str, str]:
    raw = issue_token("a token", username=username, **scope)
    return {"Authorization": f"Bearer {raw}"}


def anonymous(_: GuildId) -> Person:
    return Person(Client(), is_signed_in=False)


def stranger(_: GuildId) -> Person:
    user = builders.stored_user("stranger")
    return Person(_signed_in(user), is_signed_in=True)


def of_another_guild(_: GuildId) -> Person:
    user = builders.stored_user("ivo", guilds=[builders.stored_guild(builders.MAGPIE)])
    return Person(_signed_in(user), is_signed_in=True)


def demoted(guild: GuildId) -> Person:
    """Signed in while an administrator, and no longer one."""
    client = _signed_in(builders.stored_user("demoted", guilds=[guild]))
    assert client.get(f"/guilds/{guild}/").status_code == 200
    remove_administrator("demoted", guild_id=guild)
    return Person(client, is_signed_in=True)


def deactivated(guild: GuildId) -> Person:
    """Signed in while active; still on the guild's list of administrators."""
    user = builders.stored_user("deactivated", guilds=[guild])
    client = _signed_in(user)
    assert client.get(f"/guilds/{guild}/").status_code == 200
    User.objects.filter(pk=user.pk).update(is_active=False)
    return Person(client, is_signed_in=False)


def with_token(person: Callable[[GuildId], Person], username: str) -> Callable[[GuildId], Person]:
    """The same person with a token instead of a browser."""

    def build(guild: GuildId) -> Person:
        built = person(guild)
        active = User.objects.get(username=username).is_active
        User.objects.filter(username=username).update(is_active=True)
        headers = _bearer(username)
        User.objects.filter(username=username).update(is_active=active)
        return Person(Client(), is_signed_in=built.is_signed_in, headers=headers)

    build.__name__ = f"{person.__name__}_with_a_token"
    return build


def token_of_another_guild(_: GuildId) -> Person:
    """A token of its own that may do everything, elsewhere."""
    magpie = builders.stored_guild(builders.MAGPIE)
    return Person(Client(), is_signed_in=True, headers=_bearer(guild_ids=[magpie], verbs=[*Verb]))


REFUSED = (
    anonymous,
    stranger,
    of_another_guild,
    demoted,
    deactivated,
    with_token(stranger, "stranger"),
    with_token(of_another_guild, "ivo"),
    with_token(demoted, "demoted"),
    with_token(deactivated, "deactivated"),
    token_of_another_guild,
)


def administrator(guild: GuildId) -> Person:
    """Who may do all of it, to see that the questions are good ones."""
    return Person(_signed_in(builders.stored_user("ada", guilds=[guild])), is_signed_in=True)


def scenes(guild: GuildId, media: Path) -> list[Scene]:
    """What the parameters of routes stand for: a meeting that waits, failed, is done, runs."""
    waiting = builders.stored_session(guild, n_tracks=2)
    dead = builders.dead_session(guild, n_tracks=2)
    done = _done_with_files(guild, media)
    # The administrator's own lease, whose token is the first: what the document's example says.
    running = builders.stored_session(guild)
    builders.running_jobs(running, n=1, principal="user:ada")
    others = {"rule": "many-participants-first", "form": "md", "rest": "nowhere"}
    return [
        {"guild_id": guild, "session_id": asked, "job_id": builders.track_ids(asked)[0], **others}
        for asked in (waiting, dead, done, running)
    ]


def _done_with_files(guild: GuildId, media: Path) -> SessionId:
    """A done meeting whose document and texts can really be downloaded."""
    asked = builders.stored_session(guild)
    while leases := builders.running_jobs(asked):
        for lease in leases:
            folder = "documents" if lease.job.kind == Kind.DOCUMENT else "transcripts"
            path = Path(folder) / str(guild) / str(asked) / f"{lease.job.id}-{lease.token}.json"
            (media / path).parent.mkdir(parents=True, exist_ok=True)
            text = {"title": "done", "turns": [], "segments": [], "language": "en", "duration_s": 1}
            (media / path).write_text(json.dumps(text), encoding="utf-8")
            complete_job(
                lease.job.id,
                token=lease.token,
                principal=builders.WORKER,
                result={"path": str(path)},
            )
    return asked


def ask(person: Person, method: str, path: str, body: dict[str, Any] | None) -> Any:
    """The answer to ``body`` as JSON or, without one, to a page's form; never from loopback."""
    form = "application/x-www-form-urlencoded"
    data, content_type = ("to=first", form) if body is None else (json.dumps(body), JSON)
    return person.client.generic(
        method,
        path,
        b"" if method in ("GET", "HEAD", "OPTIONS") else data.encode(),
        content_type=content_type,
        headers=person.headers,
        REMOTE_ADDR="203.0.113.9",
    )


JSON = "application/json"


def body_for(route: Route, method: str, document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The smallest body that the API's own document allows; None for a page."""
    if not route.template.startswith("/api/"):
        return None
    if route.template.endswith("bump"):
        return {"source": "console"}  # what a browser speaks for, where the guild declares it
    operation = document["paths"].get(route.template, {}).get(method.lower(), {})
    content = operation.get("requestBody", {}).get("content", {})
    if JSON not in content:
        return {}
    name = content[JSON]["schema"]["$ref"].rpartition("/")[2]
    schema = document["components"]["schemas"][name]
    fields = {field: schema["properties"][field] for field in schema.get("required", ())}
    return {
        field: (found.get("enum") or found.get("examples") or ["x"])[0]
        for field, found in fields.items()
    }


def filled(body: dict[str, Any] | None, scene: Scene) -> dict[str, Any] | None:
    """The body with the scene's guild and session, where it names any."""
    named = {name: str(scene[f"{name}_id"]) for name in ("guild", "session")}
    return body and {field: named.get(field, value) for field, value in body.items()}
