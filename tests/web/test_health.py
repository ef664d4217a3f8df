"""Health for supervisors, figures for Prometheus, and who may see them."""

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import OperationalError
from django.test import Client

from guildqueue.services.tokens import issue_token

pytestmark = pytest.mark.django_db

FORWARDING = ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"]


def test_health_is_200_once_the_database_answers_and_the_schema_is_current(
    client: Client,
) -> None:
    response = client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"ok": True})
    assert "no-store" in response["Cache-Control"]


def test_health_names_the_first_migration_that_is_missing(client: Client) -> None:
    applied = MigrationRecorder(connections["default"]).migration_qs
    applied.filter(app="sessions", name="0001_initial").delete()

    response = client.get("/healthz")

    assert response.status_code == 503
    assert response.json() == {
        "ok": False,
        "reason": "the schema is not current: 1 migrations from sessions.0001_initial",
    }


def test_health_stays_good_after_a_newer_releases_migration(client: Client) -> None:
    MigrationRecorder(connections["default"]).record_applied("guildqueue", "9999_from_the_future")

    assert client.get("/healthz").status_code == 200


def test_health_is_503_without_an_address_when_the_database_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise OperationalError("connection to db.internal failed")

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", refuse)

    response = client.get("/healthz")

    assert response.status_code == 503
    assert response.json()["reason"] == "the database does not answer"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_a_peer_on_this_host_sees_the_figures(client: Client, address: str) -> None:
    client.get("/healthz")

    response = client.get("/metrics", REMOTE_ADDR=address)

    assert response.status_code == 200
    assert b'guildqueue_http_requests_total{method="GET",route="health-show"' in response.content


@pytest.mark.parametrize("address", ["10.0.0.1", "2001:db8::1", "", "unix:", "::ffff:10.0.0.1"])
def test_a_peer_from_elsewhere_sees_nothing(client: Client, address: str) -> None:
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 404


@pytest.mark.parametrize("header", FORWARDING)
def test_a_request_that_came_through_a_proxy_on_this_host_sees_nothing(
    client: Client, header: str
) -> None:
    assert client.get("/metrics", headers={header: "anything"}).status_code == 404
    assert client.get("/metrics", headers={header: ""}).status_code == 404


def test_a_token_opens_the_figures_from_anywhere(client: Client) -> None:
    token = issue_token("prometheus", verbs=["metrics"])

    response = client.get(
        "/metrics", REMOTE_ADDR="10.0.0.1", headers={"Authorization": f"Bearer {token}"}
    )

    assert response.status_code == 200


@pytest.mark.parametrize("value", ["Bearer gq_wrong", "Bearer ", "Basic gq_x", "gq_x", "Bearer \0"])
def test_a_wrong_token_opens_nothing(client: Client, value: str) -> None:
    response = client.get("/metrics", REMOTE_ADDR="10.0.0.1", headers={"Authorization": value})

    assert response.status_code == 404


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_neither_can_be_written_to(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


def test_an_invented_method_makes_no_series_of_its_own(client: Client) -> None:
    client.generic("BREW", "/healthz")

    content = client.get("/metrics").content
    assert b"BREW" not in content
    assert b'method="other"' in content
