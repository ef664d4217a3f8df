"""The one table from a fact to a status: whole, documented, and the only one."""

import inspect
import re
from pathlib import Path

import pytest
from django.test import RequestFactory

from console.api.problems import STATUS_OF, of_queue_error
from guildqueue.domain import errors
from guildqueue.domain.errors import InvalidInput, QueueError, Refusal, RequestRefused

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROW = re.compile(r"^\| `(\w+)` \| (\d{3}) \| (\d) \|", re.MULTILINE)


def facts() -> set[type[QueueError]]:
    """Every error of the domain that names one fact; the others only group them."""
    named = {kind for _, kind in inspect.getmembers(errors, inspect.isclass)}
    found = {kind for kind in named if issubclass(kind, QueueError)}
    return {kind for kind in found if not any(k is not kind and issubclass(k, kind) for k in found)}


def example(kind: type[QueueError]) -> QueueError:
    """The error with some value in each of its fields."""
    parameters = list(inspect.signature(kind).parameters.values())
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return kind(*("7" for _ in needed))


def test_every_error_of_the_domain_has_a_status() -> None:
    assert set(STATUS_OF) == facts()


def test_the_table_in_the_docs_is_the_one_in_the_code() -> None:
    rows = ROW.findall((DOCS / "architecture.md").read_text("utf-8"))

    documented = {name: int(status) for name, status, _ in rows}
    assert documented == {kind.__name__: status.value for kind, status in STATUS_OF.items()}


@pytest.mark.parametrize("kind", STATUS_OF)
def test_every_error_is_answered_with_its_status_and_no_more_than_its_message(
    kind: type[QueueError],
) -> None:
    response = of_queue_error(RequestFactory().get("/api/"), example(kind))

    assert response.status_code == STATUS_OF[kind]
    if issubclass(kind, RequestRefused):
        assert f'"refusal": "{kind.refusal}"' in response.content.decode()


def test_every_word_of_a_refusal_is_some_errors_own() -> None:
    words = [kind.refusal for kind in STATUS_OF if issubclass(kind, RequestRefused)]

    assert sorted(words) == sorted(Refusal)


def test_a_longer_message_than_anybody_reads_is_cut() -> None:
    error = InvalidInput("place", "x" * 100_000, ("first", "last"))

    response = of_queue_error(RequestFactory().get("/api/"), error)

    assert len(response.content) < 500


def test_every_kind_of_problem_is_in_the_docs() -> None:
    documented = (DOCS / "api.md").read_text("utf-8")

    for kind in ("invalid-value", "unknown-field", "missing-field", "malformed-json", *Refusal):
        assert f"`{kind}`" in documented
