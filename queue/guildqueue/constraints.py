"""How the tables spell their invariants: each CHECK with its sentence, each index with its use."""

from django.db import models
from django.db.models import Q
from django.db.models.lookups import Exact

OUTSTANDING = Q(state__in=["pending", "running"])
ENDED = Q(state__in=["done", "dead", "cancelled"])


def check(name: str, condition: Q, sentence: str) -> models.CheckConstraint:
    """A CHECK that says in one sentence what it keeps true.

    Briefly, as PostgreSQL parses each of them anew for every statement that writes the table.
    """
    return models.CheckConstraint(name=name, condition=condition, violation_error_message=sentence)


def hold_is_whole(name: str) -> models.CheckConstraint:
    """A hold says since when and by whom, or there is none."""
    return check(
        name,
        Q(held_at__isnull=True, held_by="", hold_reason="")
        | (Q(held_at__isnull=False) & ~Q(held_by="")),
        "A hold has a moment and a holder, and without a hold there is no reason.",
    )


JOB_CONSTRAINTS: tuple[models.BaseConstraint, ...] = (
    # Without the many jobs that have none: an index of all of a guild's jobs, history included, is
    # small enough for the planner to prefer it to job_outstanding.
    models.UniqueConstraint(
        fields=["guild", "external_id"],
        condition=Q(external_id__isnull=False),
        name="job_external_id",
    ),
    check(
        "job_lease_when_running",
        Q(Exact(Q(state="running"), Q(lease_by__isnull=False)))
        & Q(Exact(Q(lease_by__isnull=True), Q(lease_expires_at__isnull=True))),
        "A job has a lease exactly while it runs.",
    ),
    check(
        "job_named_in_lane",
        Q(bump_named=False) | Q(bump_seq__isnull=False),
        "Only a job in the lane is there by name.",
    ),
    check(
        "job_ended_left_lane",
        Q(finished_at__isnull=True) | Q(bump_seq__isnull=True),
        "A job that ended has left the lane.",
    ),
    check(
        "job_ended_has_moment",
        (~ENDED | Q(finished_at__isnull=False)) & (~OUTSTANDING | Q(finished_at__isnull=True)),
        "A job has the moment of its end exactly when it ended.",
    ),
    check("job_kind_given", ~Q(kind="") & ~Q(state=""), "A job has a kind and a state."),
    check("job_unmet_not_negative", Q(unmet__gte=0), "Needed jobs are counted from 0."),
    check(
        "job_attempts_in_range",
        Q(attempt__gte=0, max_attempts__gte=1),
        "Attempts count from 0, and a job has at least one.",
    ),
    check(
        "job_progress_is_fraction",
        Q(progress__gte=0.0, progress__lte=1.0),
        "Progress runs from 0 to 1.",
    ),
    check(
        "job_audio_measured_or_null",
        Q(audio_seconds__isnull=True) | Q(audio_seconds__gte=0.0, audio_seconds__lt=float("inf")),
        "A length is a finite number of seconds; what nobody measured is null.",
    ),
)

JOB_INDEXES: tuple[models.Index, ...] = (
    # The head of the line, word for word the claim's first arm.
    models.Index(
        fields=["bump_seq", "priority", "id"],
        condition=Q(state="pending", unmet=0, held=False, run_after__isnull=True),
        name="job_claim",
    ),
    # By the moment, so that a claim reads only what became due.
    models.Index(
        fields=["run_after"],
        condition=Q(state="pending", unmet=0, held=False, run_after__isnull=False),
        name="job_claim_deferred",
    ),
    # The same within a guild, for its turn.
    models.Index(
        fields=["guild", "bump_seq", "priority", "id"],
        condition=Q(state="pending", unmet=0, held=False, run_after__isnull=True),
        name="job_turn",
    ),
    # The lane of a guild, a handful of rows whatever waits behind it.
    models.Index(
        fields=["guild", "bump_seq"],
        condition=Q(bump_seq__isnull=False),
        name="job_lane",
    ),
    # What runs, by guild. Leases live in no index, so that a heartbeat stays a heap-only update.
    models.Index(
        fields=["guild", "bump_seq", "priority", "id"],
        condition=Q(state="running"),
        name="job_running_guild",
    ),
    # The leases that were noticed to be lost, in a guild and in the lane; nearly always empty.
    models.Index(
        fields=["guild", "bump_seq", "priority", "id"],
        condition=Q(state="running", lost_at__isnull=False),
        name="job_lost",
    ),
    models.Index(
        fields=["bump_seq", "priority", "id"],
        condition=Q(state="running", lost_at__isnull=False),
        name="job_lost_lane",
    ),
    # What a claim was given under its request id; empty where nobody sends one.
    models.Index(
        fields=["lease_by", "request_id"],
        condition=Q(state="running", request_id__isnull=False),
        name="job_request",
    ),
    models.Index(
        fields=["guild", "session", "priority", "id"],
        condition=OUTSTANDING,
        name="job_outstanding",
    ),
    # Without the id: a plan made on an empty table looked jobs up by id in this one, not in the
    # primary key, and kept doing so (a skip scan over every session).
    models.Index(fields=["session"], name="job_session"),
    models.Index(
        fields=["guild", "-finished_at"],
        condition=Q(finished_at__isnull=False),
        name="job_finished",
    ),
)
