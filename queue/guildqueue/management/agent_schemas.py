"""What the tools for agents take, as JSON Schema; nothing that is not named here is let through."""

from typing import Any

from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN
from guildqueue.domain.job import AssigneeKind
from guildqueue.domain.moves import Place

Schema = dict[str, Any]

ID: Schema = {
    "anyOf": [
        {"type": "string", "pattern": "^[0-9]{1,19}$"},
        {"type": "integer", "minimum": 1, "maximum": BIGINT_MAX},
    ],
    "description": "an id, as decimal digits",
}
TOKEN: Schema = {**ID, "description": "the fencing token that the claim gave"}
TTL: Schema = {"type": "number", "minimum": 1, "maximum": 86400, "default": 60}
_TEXT: Schema = {"type": "string", "pattern": r"^[^\u0000]*$"}
REASON: Schema = {**_TEXT, "maxLength": 500, "default": ""}
SOURCE: Schema = {**_TEXT, "maxLength": 64, "description": "the declared source that asks"}
_WORDS: Schema = {"type": "array", "items": {**_TEXT, "minLength": 1, "maxLength": 200}}
_NUMBER: Schema = {"type": ["integer", "null"], "minimum": BIGINT_MIN, "maximum": BIGINT_MAX}
CLAIM_FILTER: Schema = {
    "guilds": {"type": "array", "items": ID, "description": "none means every guild"},
    "kinds": _WORDS,
    "labels": {**_WORDS, "description": "all of them"},
    "any_labels": {**_WORDS, "description": "any of them"},
    "assignee_kind": {"enum": [*AssigneeKind, None], "description": "worker where not given"},
    "min_priority": _NUMBER,
    "max_priority": _NUMBER,
    "session": {"anyOf": [ID, {"type": "null"}]},
}
LIST_FILTER: Schema = {
    **CLAIM_FILTER,
    "states": _WORDS,
    "held": {"type": ["boolean", "null"], "description": "pending under a hold, or not"},
}
LEASE: Schema = {"job_id": ID, "token": TOKEN}
TEXT = _TEXT
PLACE: Schema = {"enum": list(Place)}


def arguments(properties: Schema, *needed: str) -> Schema:
    """An object of those properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(needed),
        "additionalProperties": False,
    }


def limited(most: int, default: int) -> Schema:
    """A whole number from 1 to ``most``."""
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}
