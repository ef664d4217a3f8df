"""The API put together: who may come in, how bodies are read, how refusals are said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from ninja import NinjaAPI
from ninja.errors import ValidationErrorContext
from ninja.operation import Operation
from pydantic import BaseModel

from console.api import endings, enqueue, events, holds, lane, leases, problems, queue, work
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
            return UnknownField(field, _fields_of(context, found["loc"]))
        if found["type"] == "missing":
            return MissingField(field or "the body", _fields_of(context, found["loc"]))
        return InvalidInput(field or "the body", found["input"], _allowed(found))


def _fields_of(context: ValidationErrorContext[Any], loc: Sequence[object]) -> tuple[str, ...]:
    """The fields of the object that was refused: the body, or what lies in it at ``loc``."""
    found = [field.annotation for field in context.model.model_fields.values()]
    for step in loc[1:-1]:
        inner = [
            model.model_fields[step].annotation
            for model in _models_in(found)
            if step in model.model_fields
        ]
        # A place in a list, or one of several shapes, is no step into an object.
        found = inner or found
    return tuple(name for model in _models_in(found) for name in model.model_fields)


def _models_in(annotations: Iterable[Any]) -> Iterator[type[BaseModel]]:
    """The models that annotations name, also in lists and beside other types."""
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield annotation
        else:
            yield from _models_in(get_args(annotation))


def _allowed(found: Any) -> str:
    facts: Mapping[str, Any] = found.get("ctx", {})
    match found["type"]:
        case "string_type":
            return "a JSON string"
        case "string_too_long":
            return f"at most {facts['max_length']} characters"
        case "model_type" | "model_attributes_type" | "dict_type":
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
for part in (queue, holds, endings, lane, events, enqueue, work, leases):
    api.add_router("", part.router)
