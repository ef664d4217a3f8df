"""No route of the project tells or does anything to somebody who does not administer the guild."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import include, path

from console.api.openapi import openapi_document
from guildqueue.domain.ids import BIGINT_MAX, GuildId
from tests import builders
from tests.db.lane_requests import rooted_guild
from tests.fingerprint import fingerprint
from tests.web.cast import (
    REFUSED,
    Person,
    Scene,
    administrator,
    ask,
    body_for,
    filled,
    scenes,
)
from tests.web.routes import Route, every_route

pytestmark = pytest.mark.django_db

# Whoever asks. What they say must not be about a guild, which the walk checks too.
OPEN_TO_ALL = {
    "home-show",
    "login",
    "logout",
    "health-show",
    "metrics-show",
    "api-openapi-show",
}
# Whoever is signed in, and then only about their own guilds.
OPEN_TO_SIGNED_IN = {
    "guild-list",
    "guild-list-stream",
    "api-ready",
    "api-claim",
    "api-job-list",
}
# Where whatever leads nowhere ends up; there is nothing behind them for anybody.
NOWHERE = {"api-not-found"}

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
GUILD_NAME = "A name that only administrators may read"
MISSING: Scene = dict.fromkeys(("guild_id", "session_id", "job_id"), BIGINT_MAX)
CSRF_FIELD = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild(name=GUILD_NAME)


@pytest.fixture
def stage(guild: GuildId, tmp_path: Path, settings: Any) -> list[Scene]:
    settings.MEDIA_ROOT = str(tmp_path)
    rooted_guild(tmp_path, guild, name=GUILD_NAME, sources=("console",))
    return scenes(guild, tmp_path)


def said(response: Any, asked: str) -> tuple[object, ...]:
    """All that an answer says, but for the address that was asked and what is always random."""
    body = CSRF_FIELD.sub("", response.content.decode()).replace(asked, "ASKED")
    location = response.get("Location", "").replace(asked, "ASKED")
    return response.status_code, response.get("Content-Type"), location, body


def is_refusal(response: Any, person: Person, route: Route) -> bool:
    """Whether the answer is the one that somebody without any right to the guild gets."""
    if response.status_code == 405 or route.name in NOWHERE:
        return response.status_code in (404, 405)
    if route.template.startswith("/api/"):
        return bool(response.status_code == (404 if person.is_signed_in else 401))
    # A token signs nobody in to a page.
    if person.is_signed_in and not person.headers:
        return bool(response.status_code == 404)
    # What a redirected stream leads to would be shown as if it came from the stream.
    if route.name.endswith("-stream"):
        return bool(response.status_code == 401)
    location = response.get("Location", "")
    return bool(response.status_code == 302 and location.startswith("/accounts/login/?next=/"))


def faults(person: Person, routes: Iterable[Route], stage: list[Scene]) -> Iterator[str]:
    """What any route tells or does to the person that it should not, one line each."""
    document, before = openapi_document(), fingerprint()
    # Signing out comes last, or all that follows would be asked by nobody.
    for route in sorted(routes, key=lambda route: route.name == "logout"):
        for method in METHODS:
            body = body_for(route, method, document)
            for scene in stage:
                yield from _faults_of_one(person, route, method, body, scene)
        if fingerprint() != before:
            yield f"{route.name}: something was written"
            before = fingerprint()


def _faults_of_one(
    person: Person, route: Route, method: str, body: dict[str, Any] | None, scene: Scene
) -> Iterator[str]:
    asked, missing = route.path(scene), route.path({**scene, **MISSING})
    response = ask(person, method, asked, filled(body, scene))
    line = f"{route.name}: {method} {asked} gave {response.status_code}"
    text = response.content.decode().replace(asked, "")
    if GUILD_NAME in text or str(scene["guild_id"]) in text:
        yield f"{line} and names the guild"
    if route.name in OPEN_TO_ALL | OPEN_TO_SIGNED_IN:
        return
    if not is_refusal(response, person, route):
        yield line
    elsewhere = ask(person, method, missing, filled(body, {**scene, **MISSING}))
    if said(response, asked) != said(elsewhere, missing):
        yield f"{line}, unlike for a missing one"


@pytest.mark.parametrize("who", REFUSED, ids=lambda who: who.__name__)
def test_no_route_tells_or_does_anything_to_who_does_not_administer_the_guild(
    guild: GuildId, stage: list[Scene], who: Callable[[GuildId], Person]
) -> None:
    person = who(guild)

    assert list(faults(person, every_route(), stage)) == []


def test_every_guarded_route_lets_the_administrator_in(guild: GuildId, stage: list[Scene]) -> None:
    """Otherwise the refusals above might only say that the question was wrong."""
    ada, document = administrator(guild), openapi_document()

    def is_let_in(route: Route) -> bool:
        for method in METHODS:
            for scene in stage:
                with transaction.atomic():
                    body = filled(body_for(route, method, document), scene)
                    status = ask(ada, method, route.path(scene), body).status_code
                    transaction.set_rollback(True)
                if status < 400:
                    return True
        return False

    guarded = [route for route in every_route() if route.name not in OPEN_TO_ALL | NOWHERE]
    assert [route.name for route in guarded if not is_let_in(route)] == []
    assert len(guarded) > 20


def test_every_route_has_a_name_of_its_own() -> None:
    names = [route.name for route in every_route()]

    assert len(names) == len(set(names))
    assert not any(name.endswith("None") for name in names)


def test_every_open_route_is_still_there() -> None:
    names = {route.name for route in every_route()}

    assert names >= OPEN_TO_ALL | OPEN_TO_SIGNED_IN | NOWHERE


def leak(request: HttpRequest, guild_id: int) -> HttpResponse:
    """A route that somebody forgot to guard."""
    return HttpResponse(f"{GUILD_NAME} {guild_id == builders.STARLING}")


def leaky_urls() -> ModuleType:
    module = ModuleType("leaky_urls")
    routes = [path("<bigid:guild_id>/all", leak, name="leak-show")]
    module.urlpatterns = [  # type: ignore[attr-defined]
        path("new/", include(routes)),
        path("", include("console.urls")),
    ]
    return module


def test_a_new_route_that_nobody_guarded_is_found(guild: GuildId, stage: list[Scene]) -> None:
    person = REFUSED[1](guild)

    with override_settings(ROOT_URLCONF=leaky_urls()):
        routes = [route for route in every_route() if route.name == "leak-show"]
        found = list(faults(person, routes, stage[:1]))

    asked = f"leak-show: GET /new/{guild}/all gave 200"
    assert found[:3] == [
        f"{asked} and names the guild",
        asked,
        f"{asked}, unlike for a missing one",
    ]
