"""Who may watch, and for how long: asked before the first byte and again with every heartbeat."""

import http.client
import json
import time
from collections.abc import Callable
from importlib import import_module

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User

from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.domain.token import Verb
from guildqueue.services.membership import add_administrator, remove_administrator
from guildqueue.services.tokens import issue_token, list_tokens, revoke_token
from tests import builders
from tests.web.streams import Reader, Server, cookie

Opened = Callable[..., Reader]
HEARTBEAT_S = 1.0  # as tests.web.streams sets it
pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild(committed_db: None) -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def session_id(guild: GuildId) -> SessionId:
    return builders.stored_session(guild)


@pytest.fixture
def ada(guild: GuildId) -> User:
    return builders.stored_user("ada", guilds=[guild])


def paths(guild_id: GuildId | int, session_id: SessionId | int) -> list[str]:
    return [
        f"/api/guilds/{guild_id}/queue/stream",
        f"/guilds/{guild_id}/stream",
        f"/sessions/{session_id}/stream",
    ]


def bearer(raw: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {raw}"}


def test_nobody_signed_in_is_401_and_is_never_led_elsewhere(
    server: Server, guild: GuildId, session_id: SessionId
) -> None:
    for path in [*paths(guild, session_id), *paths(BIGINT_MAX, BIGINT_MAX), "/guilds/stream"]:
        assert server.get(path)[0] == 401
        assert server.get(path, Cookie=f"{settings.SESSION_COOKIE_NAME}=invented")[0] == 401


def test_what_is_not_theirs_is_404_as_what_is_not_there(
    server: Server, guild: GuildId, session_id: SessionId
) -> None:
    magpie = builders.stored_guild(builders.MAGPIE)
    ivo = cookie(builders.stored_user("ivo", guilds=[magpie]))

    not_theirs = [server.get(path, Cookie=ivo) for path in paths(guild, session_id)]
    not_there = [server.get(path, Cookie=ivo) for path in paths(BIGINT_MAX, BIGINT_MAX)]

    assert not_theirs == not_there
    assert [status for status, _ in not_theirs] == [404] * 3
    assert json.loads(not_theirs[0][1])["status"] == 404
    assert server.get(f"/guilds/{'9' * 30}/stream", Cookie=ivo)[0] == 404


def test_a_stream_is_only_got(server: Server, guild: GuildId, ada: User) -> None:
    for method in ("POST", "HEAD", "DELETE"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request(method, f"/guilds/{guild}/stream", headers={"Cookie": cookie(ada)})
        response = connection.getresponse()
        assert (response.status, response.headers["Allow"]) == (405, "GET")
        response.close()
        connection.close()


def test_a_token_opens_the_stream_of_the_api_alone(
    server: Server, opened: Opened, guild: GuildId, session_id: SessionId, ada: User
) -> None:
    raw = issue_token("adas", username="ada")
    api, *browser = paths(guild, session_id)

    first = opened(server, api, **bearer(raw)).next()

    assert first is not None
    assert json.loads(first.data)["guild_id"] == str(guild)
    assert [server.get(path, **bearer(raw))[0] for path in browser] == [401, 401]


def test_a_bad_token_is_not_forgiven_for_a_good_cookie(
    server: Server, guild: GuildId, ada: User
) -> None:
    headers = bearer("gq_invented") | {"Cookie": cookie(ada)}

    assert server.get(f"/api/guilds/{guild}/queue/stream", **headers)[0] == 401


def test_a_tokens_scope_decides_what_it_opens(
    server: Server, opened: Opened, guild: GuildId
) -> None:
    path = f"/api/guilds/{guild}/queue/stream"
    reads = issue_token("reads", guild_ids=[guild], verbs=[Verb.READ])
    claims = issue_token("claims", guild_ids=[guild], verbs=[Verb.CLAIM])
    elsewhere = issue_token("elsewhere", guild_ids=[builders.MAGPIE], verbs=[Verb.READ])

    assert opened(server, path, **bearer(reads)).status == 200
    assert server.get(path, **bearer(claims))[0] == 403
    assert server.get(path, **bearer(elsewhere))[0] == 404


def sign_out_elsewhere(guild: GuildId, user: User, key: str) -> None:
    import_module(settings.SESSION_ENGINE).SessionStore(key).flush()


def demote(guild: GuildId, user: User, key: str) -> None:
    remove_administrator(user.username, guild_id=guild)


def deactivate(guild: GuildId, user: User, key: str) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def change_the_password(guild: GuildId, user: User, key: str) -> None:
    user.set_password("another long enough one")
    user.save()


ENDINGS = [
    pytest.param(sign_out_elsewhere, "signed-out", id="signed out elsewhere"),
    pytest.param(demote, "not-yours", id="demoted"),
    pytest.param(deactivate, "signed-out", id="deactivated"),
    pytest.param(change_the_password, "signed-out", id="password changed"),
]


@pytest.mark.parametrize(("end", "reason"), ENDINGS)
def test_whoever_may_no_longer_watch_is_told_so_and_sees_nothing_more(
    server: Server, opened: Opened, guild: GuildId, session_id: SessionId, ada: User,
    end: Callable[[GuildId, User, str], None], reason: str,
) -> None:  # fmt: skip
    header = cookie(ada)
    readers = [opened(server, path, Cookie=header) for path in paths(guild, session_id)]
    bystander = opened(
        server,
        paths(guild, session_id)[0],
        Cookie=cookie(builders.stored_user("ivo", guilds=[guild])),
    )
    for reader in (*readers, bystander):
        reader.next()

    end(guild, ada, header.partition("=")[2])
    ended_at = time.monotonic()

    for reader in readers:
        last = reader.ends()[-1]
        assert (last.name, last.data) == ("end", reason)
    assert time.monotonic() - ended_at < 3 * HEARTBEAT_S
    assert server.get(paths(guild, session_id)[0], Cookie=header)[0] in (401, 404)
    bystander.next_named("comment")


def test_a_revoked_token_ends_its_stream(server: Server, opened: Opened, guild: GuildId) -> None:
    path = f"/api/guilds/{guild}/queue/stream"
    raw = issue_token("reads", guild_ids=[guild], verbs=[Verb.READ])
    reader = opened(server, path, **bearer(raw))
    reader.next()

    revoke_token(list_tokens()[0].token_id)

    last = reader.ends(timeout_s=3 * HEARTBEAT_S)[-1]
    assert (last.name, last.data) == ("end", "signed-out")
    assert server.get(path, **bearer(raw))[0] == 401


def test_whoever_signs_out_of_everything_loses_the_list_of_guilds(
    server: Server, opened: Opened, guild: GuildId, ada: User
) -> None:
    reader = opened(server, "/guilds/stream", Cookie=cookie(ada))
    reader.next()

    deactivate(guild, ada, "")

    assert reader.ends()[-1].data == "signed-out"


def test_a_guild_that_is_lost_leaves_the_list_but_does_not_end_it(
    server: Server, opened: Opened, guild: GuildId, ada: User
) -> None:
    add_administrator("ada", guild_id=builders.stored_guild(builders.MAGPIE, name="Magpie"))
    reader = opened(server, "/guilds/stream", Cookie=cookie(ada))
    reader.next()

    demote(guild, ada, "")

    shown = reader.next_named("")
    assert "Magpie" in shown.data
    assert "Starling" not in shown.data


@pytest.mark.alone
def test_a_fault_before_the_first_byte_is_a_500_at_once_and_logged_once(
    server: Server, guild: GuildId, ada: User, database_url: str
) -> None:
    header, path = cookie(ada), f"/guilds/{guild}/stream"
    assert server.get("/healthz")[0] == 200
    n_logged = server.log.read_text().count("stream failed")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE guildqueue_administrator RENAME TO out_of_the_way")
        try:
            began = time.monotonic()
            status, _ = server.get(path, Cookie=header)
            took_s = time.monotonic() - began
        finally:
            connection.execute("ALTER TABLE out_of_the_way RENAME TO guildqueue_administrator")

    text = server.log.read_text()
    assert (status, took_s < 1) == (500, True)
    assert text.count("stream failed") == n_logged + 1
    assert "UndefinedTable" in text
