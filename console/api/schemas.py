"""The shapes of bodies and answers, as openapi.json describes them.

Bodies are checked against these. Answers are built as plain values and never pass through
here: a test holds them to it instead, so that 200 sessions are not validated on every look.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema

from guildqueue.domain.errors import Refusal
from guildqueue.domain.ids import BIGINT_MAX
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.moves import NEXT_TO, Place
from guildqueue.domain.rules import KNOWN_RULES
from guildqueue.domain.snapshot import SessionState, WaitsFor

ID_SCHEMA = {
    "type": "string",
    "pattern": "^[0-9]{1,19}$",
    "description": f"Decimal digits, at most {BIGINT_MAX}.",
    "examples": ["512"],
}

Id = Annotated[str, WithJsonSchema(ID_SCHEMA)]
PathId = Annotated[int, WithJsonSchema(ID_SCHEMA)]
"""What the route's converter has already turned into a number."""


MOVE_SHAPES: list[JsonValue] = [
    {
        "properties": {
            "place": {"enum": [*sorted(set(Place) - NEXT_TO)]},
            "session": {"type": "null"},
        }
    },
    {
        "properties": {"place": {"enum": [*sorted(NEXT_TO)]}, "session": {"type": "string"}},
        "required": ["session"],
    },
]
"""What `place` asks of `session`, for whoever generates a client."""


class Body(BaseModel):
    """A request's body: its fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Move(Body):
    """Where to put a session. `session` is the neighbour that `before` and `after` need."""

    model_config = ConfigDict(json_schema_extra={"oneOf": MOVE_SHAPES})

    # The words are checked by the domain, so that every front end lists the same ones.
    place: Annotated[str, WithJsonSchema({"type": "string", "enum": list(Place)})]
    session: Id | None = None


class Rule(Body):
    """A quick action."""

    rule: Annotated[str, WithJsonSchema({"type": "string", "enum": list(KNOWN_RULES)})]


class Reason(Body):
    """Why, for everybody who sees the queue and for the ledger."""

    # The parser refuses NUL wherever it stands; a client learns that from the pattern.
    reason: Annotated[
        str, Field(max_length=500, json_schema_extra={"pattern": r"^[^\u0000]*$"})
    ] = ""


class LaneAsked(Reason):
    """Who asks, by the one source that it may speak for, and why."""

    source: Annotated[
        str | None,
        Field(max_length=64, json_schema_extra={"pattern": r"^[^\u0000]*$"}),
    ] = None


class Nothing(Body):
    """No field at all."""


class Answer(BaseModel):
    """What a call answers: every field is always there, and later releases may add some."""


class SessionJobs(Answer):
    pending: int
    running: int
    done: int
    dead: int
    cancelled: int


class Session(Answer):
    """One meeting. `lane_jobs` of its outstanding jobs run next; `lane` if all of them do."""

    session_id: Id
    title: str
    state: SessionState
    started_at: datetime | None
    participants: int
    jobs: SessionJobs
    priority: int | None
    position: int | None
    lane: bool
    lane_jobs: int
    named: bool
    held: bool
    waits_for: WaitsFor | None
    audio_seconds: float | None
    progress: Annotated[float, Field(ge=0.0, le=1.0)]


class Counts(Answer):
    """The guild's jobs; `held` are pending ones under a hold."""

    pending: int
    running: int
    done: int
    dead: int
    cancelled: int
    held: int
    other: int


class Snapshot(Answer):
    """A guild's queue at one moment; `more` outstanding sessions follow the ones shown."""

    guild_id: Id
    version: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9a-f]+$")]
    held: bool
    counts: Counts
    more: int
    sessions: list[Session]


class Ordered(Answer):
    session_id: Id
    priority: int


class Decision(Answer):
    """What a move or rule did, or why it did nothing; `order` is what holds then."""

    accepted: bool
    refusal: Refusal | None
    changed: list[Id]
    order: list[Ordered]


class Holding(Answer):
    """`changed` is false for what was so already."""

    held: bool
    changed: bool


class LaneAnswer(Answer):
    """What became of a bump or un-bump: the jobs that entered the lane, that were ahead already,
    that left it, and that only a newer release may write."""

    accepted: bool
    refusal: LaneRefusal | None
    job_id: Id | None
    session_id: Id | None
    moved: list[Id]
    already: list[Id]
    removed: list[Id]
    skipped: list[Id]
    note: str


class Event(Answer):
    """A record of the ledger. `type` and what `changed` has may be a newer release's."""

    event_id: Id
    at: datetime
    type: str
    by: str
    on_behalf_of: str | None
    reason: str
    changed: dict[str, JsonValue]
    correlation_id: str
    untrusted: bool
    prev_digest: str
    digest: str


class Events(Answer):
    """A page of the ledger, newest first; `before` is what to ask for the next one with."""

    events: list[Event]
    before: Id | None


class Jobs(Answer):
    """The jobs that were requeued or cancelled, ascending."""

    jobs: list[Id]


class Problem(BaseModel):
    """Why a call did nothing (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = Field(None, description="The field of the body that is not right.")
    allowed: str | None = Field(None, description="What that field may be.")
    refusal: Refusal | None = Field(None, description="Why the queue does not admit it now.")


class LaneProblem(Problem):
    """A bump or un-bump that is not granted, or names nothing that is there; on record."""

    refusal: LaneRefusal | None = None  # type: ignore[assignment]  # words of its own


REFUSALS = dict.fromkeys((400, 401, 403, 404, 413, 415, 503), Problem)
"""What any call may answer before it asks the queue; only one with a body gives 413 and 415."""
