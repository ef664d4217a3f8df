"""The shapes of what workers, scripts and importers send and get, as openapi.json has them."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from console.api.schemas import ID_SCHEMA, Answer, Body, Id
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN
from guildqueue.domain.job import KNOWN_KINDS, AssigneeKind, JobState
from guildqueue.services.claim import COUNT_MOST
from guildqueue.services.ready import LIMIT_MOST

TRACKS_MOST = 1000
TTL_MOST_S = 86400.0
WAIT_MOST_S = 60.0
NO_NUL = r"^[^\u0000]*$"
_LABELS: JsonValue = {
    "type": "array",
    "maxItems": 1000,
    "items": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": NO_NUL},
}
_PRIORITY: JsonValue = {
    "anyOf": [
        {"type": "integer", "minimum": BIGINT_MIN, "maximum": BIGINT_MAX},
        {"type": "null"},
    ],
}
_AN_ID: JsonValue = {"type": "string", "pattern": "^0*[1-9][0-9]*$", "maxLength": 18}
FILTER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Restrictions that all hold at once; empty lists and null restrict nothing. "
    "A job fits a list of which it matches any, but has to carry all `labels`.",
    "additionalProperties": False,
    "properties": {
        "guilds": {"type": "array", "maxItems": 1000, "items": _AN_ID},
        "kinds": _LABELS,
        "labels": _LABELS,
        "any_labels": _LABELS,
        "assignee_kind": {
            "anyOf": [{"type": "string", "enum": list(AssigneeKind)}, {"type": "null"}]
        },
        "min_priority": _PRIORITY,
        "max_priority": _PRIORITY,
        "session": {"anyOf": [_AN_ID, {"type": "null"}]},
        "states": _LABELS,
        "held": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    },
}
_PROPERTIES: dict[str, Any] = FILTER_SCHEMA["properties"]
CLAIM_FILTER_SCHEMA = {
    **FILTER_SCHEMA,
    "properties": {n: _PROPERTIES[n] for n in _PROPERTIES if n not in ("states", "held")},
}
# The domain reads it, so that every front end refuses the same in the same words.
Filter = Annotated[dict[str, Any], WithJsonSchema(FILTER_SCHEMA)]
ClaimFilter = Annotated[dict[str, Any], WithJsonSchema(CLAIM_FILTER_SCHEMA)]
Object = dict[str, Any]


def whole_id(field: str, text: str) -> int:
    """The id that a body's ``text`` spells. Raises InvalidInput naming the field."""
    if text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= BIGINT_MAX:
        return int(text)
    raise InvalidInput(field, text, f"decimal digits, at most {BIGINT_MAX}")


def _some_text(text: str) -> str:
    if not text.strip():
        raise ValueError("needs more than blanks")
    return text.strip()


def _whole(number: object) -> object:
    """JSON knows one kind of number: 3.0 is the 3 that a strict integer has to be."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Named = Annotated[
    str,
    Field(min_length=1, max_length=500, json_schema_extra={"pattern": r"^[^\u0000]*[^\s\u0000]"}),
    AfterValidator(_some_text),
]
Text = Annotated[str, Field(json_schema_extra={"pattern": NO_NUL})]
Seconds = Annotated[float, Field(strict=True, ge=0, le=1e9)]
Flag = Annotated[bool, Field(strict=True)]
Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Ttl = Annotated[float, Field(strict=True, ge=1, le=TTL_MOST_S)]
# Any digits: a number that no lease ever had holds none, which is for the queue to say.
Fencing = Annotated[str, Field(pattern=r"^[0-9]{1,19}$", examples=["1"])]


class NewTrack(Body):
    """One speaker's recording. `uri` is `audio/{guild}/…` below the media folder, or a URL."""

    name: Named
    uri: Annotated[str, Field(max_length=4000)] | None = None
    audio_seconds: Seconds | None = None


class NewParticipant(Body):
    name: Named
    user_id: Named | None = None


class NewSession(Body):
    """One meeting; `recording` while more tracks are to come."""

    title: Named
    external_id: Named | None = None
    started_at: Moment | None = None
    participants: Annotated[list[Named | NewParticipant], Field(max_length=TRACKS_MOST)] = Field(
        default_factory=list
    )
    tracks: Annotated[list[NewTrack], Field(max_length=TRACKS_MOST)] = Field(default_factory=list)
    recording: Flag = False


class NewTracks(Body):
    """Tracks of a meeting that is there; `recording` false ends the recording."""

    tracks: Annotated[list[NewTrack], Field(max_length=TRACKS_MOST)] = Field(default_factory=list)
    recording: Flag | None = None


class NewJob(Body):
    """One job for a session. `needs` are ids of jobs (digits) or external ids."""

    guild: Id
    session: Id
    kind: Annotated[str, WithJsonSchema({"type": "string", "enum": list(KNOWN_KINDS)})]
    assignee_kind: Annotated[
        str, WithJsonSchema({"type": "string", "enum": list(AssigneeKind)})
    ] = AssigneeKind.WORKER
    payload: Object = Field(default_factory=dict)
    needs: Annotated[list[str], Field(max_length=1000)] = Field(default_factory=list)
    labels: Annotated[list[str], WithJsonSchema(_LABELS)] = Field(default_factory=list)
    run_after: Moment | None = None
    external_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    audio_seconds: Seconds | None = None
    bump: Flag = False
    source: Annotated[str, Field(max_length=64)] | None = None
    reason: Annotated[str, Field(max_length=500, json_schema_extra={"pattern": NO_NUL})] = ""


class ReadyWanted(Body):
    filter: ClaimFilter = Field(default_factory=dict)
    limit: Annotated[int, Field(strict=True, ge=1, le=LIMIT_MOST), BeforeValidator(_whole)] = 50


class ListWanted(Body):
    """A page of jobs in ascending id; `after` is the last one of the page before."""

    filter: Filter = Field(default_factory=dict)
    after: Id | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(_whole)] = 100


class ClaimWanted(Body):
    """`wait` makes it wait so many seconds for work; `request_id` makes it safe to repeat."""

    filter: ClaimFilter = Field(default_factory=dict)
    count: Annotated[int, Field(strict=True, ge=1, le=COUNT_MOST), BeforeValidator(_whole)] = 1
    ttl: Ttl = 60.0
    wait: Annotated[float, Field(strict=True, ge=0, le=WAIT_MOST_S)] = 0.0
    request_id: (
        Annotated[str, Field(min_length=1, max_length=200, json_schema_extra={"pattern": NO_NUL})]
        | None
    ) = None


class Beat(Body):
    """The worker lives, and is `progress` (0 to 1) of the way."""

    token: Fencing
    ttl: Ttl = 60.0
    progress: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None


class Completion(Body):
    """`result.path` may only be `transcripts/{guild}/…` or `documents/{guild}/…`."""

    token: Fencing
    result: Object = Field(default_factory=dict)
    audio_seconds: Seconds | None = None


class Failure(Body):
    token: Fencing
    error: Text
    permanent: Flag = False


class Handback(Body):
    token: Fencing


class CreatedSession(Answer):
    """`created` is false where the guild had that external id, left unchanged."""

    session_id: Id
    created: bool


class CreatedJob(Answer):
    """`created` is false where the guild had that external id, left unchanged."""

    job_id: Id
    created: bool


class Job(Answer):
    job_id: Id
    guild_id: Id
    session_id: Id
    kind: str
    assignee_kind: str
    state: str
    priority: int
    attempt: int
    max_attempts: int
    labels: list[str]
    payload: Object
    audio_seconds: float | None
    run_after: datetime | None
    needs: list[Id]
    external_id: str | None
    created_at: datetime


class ReadyJobs(Answer):
    """In the order of claims. `held_count` of an empty page: how many only a hold keeps away."""

    jobs: list[Job]
    held_count: int


class JobPage(Answer):
    """`after` is where the next page begins; null on the last one."""

    jobs: list[Job]
    after: Id | None


class Lease(Answer):
    """`token` is the fencing token, which every later call for the job names."""

    job: Job
    token: Annotated[str, WithJsonSchema({**ID_SCHEMA, "examples": ["7"]})]
    expires_at: datetime


class Leases(Answer):
    leases: list[Lease]


class Extended(Answer):
    expires_at: datetime


class Ended(Answer):
    """What has become of the job."""

    state: JobState
