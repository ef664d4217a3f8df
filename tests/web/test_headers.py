"""What every answer carries: the strict content policy and its companions."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
}


@pytest.mark.parametrize("path", ["/healthz", "/accounts/login/", "/nowhere/", "/api/nowhere"])
def test_every_answer_has_the_strict_policy(client: Client, path: str) -> None:
    response = client.get(path)

    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_host_that_is_not_ours_is_refused(client: Client) -> None:
    assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 400
