"""Whatever anybody sends to what openapi.json describes, the answer is one that it describes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from console.api.openapi import openapi_document
from tests import builders
from tests.web.api import Caller, problem_of

pytestmark = pytest.mark.django_db

CONFIG = SchemathesisConfig()
# Who asks is the tests' business: an invented way in would only ever be a 401.
CONFIG.projects.default.generation.with_security_parameters = False
SCHEMA = schemathesis.openapi.from_dict(openapi_document(), config=CONFIG)
SCHEMA.app = get_wsgi_application()
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
# An id may be a number too large, the moved session itself, or one that left the queue.
SCHEMA_CANNOT_TELL = {
    "GET /api/guilds/{guild_id}/queue",
    "GET /api/guilds/{guild_id}/events",
    "POST /api/sessions/{session_id}/queue/priority",
    # Where a file may lie is the guild's, and what is needed has to be there.
    "POST /api/guilds/{guild_id}/sessions",
    "POST /api/sessions/{session_id}/tracks",
    "POST /api/jobs",
    "POST /api/jobs/{job_id}/complete",
    "POST /api/jobs/list",
}
WITH_BODY = [operation for operation in OPERATIONS if operation.body]
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]

# The same input at every run, so that a failure is somebody's change and not the day's luck.
EXAMPLES = settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    # Shrinking a failure would take minutes; the example as found says enough.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def stage() -> dict[str, Any]:
    """A guild with something in every state, and the token of its administrator."""
    guild = builders.stored_guild()
    builders.stored_user("ada", guilds=[guild])
    sessions = [
        builders.stored_session(guild, n_tracks=2),
        builders.stored_session(guild),
        builders.dead_session(guild, n_tracks=2),
        builders.done_session(guild),
    ]
    return {"guild": guild, "sessions": sessions, "headers": builders.bearer("ada")}


@pytest.fixture(autouse=True)
def open_connection() -> Iterator[None]:
    """The test's own transaction outlives a request, as it does with Django's test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@contextmanager
def taken_back() -> Iterator[None]:
    """Each example meets the stage as it was built."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def real_ids(stage: dict[str, Any]) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries(
        {
            "guild_id": st.just(str(stage["guild"])),
            "session_id": st.sampled_from([str(asked) for asked in stage["sessions"]]),
            "job_id": st.just(str(builders.track_ids(stage["sessions"][0])[0])),
        }
    )


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_every_answer_is_one_that_the_document_describes(
    stage: dict[str, Any], operation: Any, mode: GenerationMode
) -> None:
    headers, seen = stage["headers"], set()
    left_out = [positive_data_acceptance] if operation.label in SCHEMA_CANNOT_TELL else []
    if operation.method.upper() == "GET":
        # A parameter that an address does not have is let be, as browsers and proxies add some.
        left_out.append(negative_data_rejection)

    @EXAMPLES
    @given(case=operation.as_strategy(generation_mode=mode), ids=st.none() | real_ids(stage))
    def check(case: Any, ids: dict[str, str] | None) -> None:
        if ids:
            case.path_parameters = {name: ids[name] for name in case.path_parameters}
            if mode is GenerationMode.POSITIVE and operation.label == "POST /api/jobs":
                case.body |= {"guild": ids["guild_id"], "session": ids["session_id"]}
        with taken_back():
            response = case.call(headers=headers)
            case.validate_response(response, headers=headers, excluded_checks=left_out)
        seen.add(response.status_code)

    check()
    # Otherwise nothing but ids that do not exist was ever tried.
    assert seen & (hoped_for(operation.label) if mode is GenerationMode.POSITIVE else {400, 404})


def hoped_for(label: str) -> set[int]:
    """What an invented request that is well-formed can come to."""
    if label.endswith("bump"):
        return {403}  # no invented name is a declared source
    if label.startswith("POST /api/jobs/{job_id}/"):
        return {409}  # no invented token holds a lease
    return {200, 201}


TEXTS = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["\0", "\ud800", "first", "before", "9" * 30, "-1", "<img src=x onerror=alert(1)>", "' OR 1=1"]
)
NUMBERS = st.integers() | st.floats() | st.integers(10**300, 10**301)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)
FIELDS = st.sampled_from(["place", "session", "rule", "reason"]) | TEXTS
BODIES = st.one_of(
    st.binary(max_size=200),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.dictionaries(FIELDS, VALUES).map(lambda value: json.dumps(value).encode()),
    st.integers(1, 100_000).map(lambda depth: b"[" * depth),
)


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.label)
def test_any_bytes_at_all_are_answered_or_refused_in_words(
    stage: dict[str, Any], operation: Any
) -> None:
    session = stage["sessions"][0]
    job = builders.track_ids(session)[0]
    path = operation.path.format(guild_id=stage["guild"], session_id=session, job_id=job)
    caller = Caller(stage["headers"])

    @EXAMPLES
    @given(body=BODIES)
    def check(body: bytes) -> None:
        with taken_back():
            response = caller.send(operation.method.upper(), path, body)
        if response.status_code != 200:
            assert problem_of(response)["status"] in (400, 403)

    check()
