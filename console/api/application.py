"""The API put together: who may come in, how bodies are read, how refusals are said."""

from collections.abc import Mapping
from typing import Any

from ninja import NinjaAPI
from ninja.errors import ValidationErrorContext
from ninja.operation import Operation

from console.api import endings, events, holds, lane, problems, queue
from console.api.auth import BearerToken, SignedIn
from console.api.parsing import StrictParser
from console.api.problems import MissingField, UnknownField
from guildqueue.domain.errors import InvalidInput


class QueueApi(NinjaAPI):
    """Ninja's, with what does not fit a schema told as the domain tells it."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def validation_error_from_error_contexts(  # type: ignore[override]  # a problem, not ninja's
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> InvalidInput:
        context = error_contexts[0]
        found = context.pydantic_validation_error.errors(include_url=False)[0]
        # The first step names the view's argument, which a caller never sees.
        field = ".".join(str(step) for step in found["loc"][1:])
        if found["type"] == "extra_forbidden":
            return UnknownField(field, _fields_of(context))
        if found["type"] == "missing":
            return MissingField(field or "the body", _fields_of(context))
        return InvalidInput(field or "the body", found["input"], _allowed(found))


def _fields_of(context: ValidationErrorContext[Any]) -> tuple[str, ...]:
    """The fields of the body that was refused."""
    arguments = context.model.model_fields.values()
    return tuple(name for a in arguments for name in a.annotation.model_fields)


def _allowed(found: Any) -> str:
    facts: Mapping[str, Any] = found.get("ctx", {})
    match found["type"]:
        case "string_type":
            return "a JSON string"
        case "string_too_long":
            return f"at most {facts['max_length']} characters"
        case "model_type" | "model_attributes_type":
            return "a JSON object"
        case _:
            return str(found["msg"])


api = QueueApi(
    title="Guild Queue",
    version="1",
    description="A guild's queue of recorded meetings. Every id is a string of decimal digits, "
    "every time is UTC. See docs/api.md.",
    auth=[BearerToken(), SignedIn()],
    parser=StrictParser(),
    openapi_url=None,
    urls_namespace="api",
)
problems.install(api)
for part in (queue, holds, endings, lane, events):
    api.add_router("", part.router)
