"""The tables, and the invariants that no writer can break."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from guildqueue.constraints import JOB_CONSTRAINTS, JOB_INDEXES, check, hold_is_whole


class Guild(models.Model):
    """A tenant; the id is the community's own, never drawn here."""

    id = models.BigIntegerField(primary_key=True)
    name = models.TextField()
    root = models.TextField(null=True, blank=True)
    running_cap = models.IntegerField(null=True, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    held_by = models.TextField(blank=True, db_default="")
    hold_reason = models.TextField(blank=True, db_default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            hold_is_whole("guild_hold_is_whole"),
            check("guild_id_positive", Q(id__gt=0), "A guild's id is a positive number."),
            check(
                "guild_cap_positive",
                Q(running_cap__isnull=True) | Q(running_cap__gte=1),
                "A cap lets at least one job run; to stop all of them, hold the guild.",
            ),
        ]
        indexes = [
            # Every claim asks which guilds are held.
            models.Index(fields=["id"], condition=Q(held_at__isnull=False), name="guild_held"),
            # One in the deployment's order asks which guilds have a cap.
            models.Index(
                fields=["id"], condition=Q(running_cap__isnull=False), name="guild_capped"
            ),
        ]


class GuildCount(models.Model):
    """Steps of a guild's counters of ended jobs, summed when read.

    Rows are only ever added by the job table's trigger and folded together later, so that
    no completion waits for another and no row is rewritten per job.
    """

    id = models.BigAutoField(primary_key=True)
    guild_id = models.BigIntegerField()
    state = models.TextField()
    delta = models.BigIntegerField()

    class Meta:
        db_table = "guildqueue_guild_count"
        indexes = [models.Index(fields=["guild_id", "state"], name="guild_count_guild")]


class Administrator(models.Model):
    """A user who may see and change a guild's queue."""

    id = models.BigAutoField(primary_key=True)
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "guild"], name="administrator_user_guild")
        ]


class Session(models.Model):
    """One meeting: the unit that people move."""

    id = models.BigAutoField(primary_key=True)
    guild = models.ForeignKey(Guild, on_delete=models.PROTECT, db_index=False)
    external_id = models.TextField(null=True, blank=True)
    title = models.TextField()
    recording = models.BooleanField(db_default=False)
    started_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    held_at = models.DateTimeField(null=True, blank=True)
    held_by = models.TextField(blank=True, db_default="")
    hold_reason = models.TextField(blank=True, db_default="")
    moved_at = models.DateTimeField(null=True, blank=True)
    moved_by = models.TextField(blank=True, db_default="")
    moved_place = models.TextField(blank=True, db_default="")

    class Meta:
        constraints = [
            hold_is_whole("session_hold_is_whole"),
            models.UniqueConstraint(fields=["guild", "external_id"], name="session_external_id"),
            # What job's foreign key points at, so that a job cannot sit in another guild's session.
            models.UniqueConstraint(fields=["guild", "id"], name="session_guild"),
            check("session_title_given", ~Q(title=""), "A session has a title."),
        ]
        indexes = [
            models.Index(fields=["guild"], condition=Q(recording=True), name="session_recording")
        ]


class Participant(models.Model):
    """A person who was at a meeting."""

    id = models.BigAutoField(primary_key=True)
    guild_id = models.BigIntegerField()
    session = models.ForeignKey(Session, on_delete=models.CASCADE)
    name = models.TextField()
    user_id = models.TextField(null=True, blank=True)


class Job(models.Model):
    """One piece of work for one worker."""

    id = models.BigAutoField(primary_key=True)
    # The composite foreign key (guild_id, session_id) of migration 0002 guards both.
    guild = models.ForeignKey(
        Guild, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    session = models.ForeignKey(
        Session, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    kind = models.TextField()
    assignee_kind = models.TextField(db_default="worker")
    state = models.TextField(db_default="pending")
    priority = models.BigIntegerField(db_default=0)
    bump_seq = models.BigIntegerField(null=True, blank=True)
    bump_named = models.BooleanField(db_default=False)
    # Who let it run next, since when and why: told of lane jobs, stale on all others.
    bumped_at = models.DateTimeField(null=True, blank=True)
    bumped_by = models.TextField(blank=True, db_default="")
    bump_reason = models.TextField(blank=True, db_default="")
    unmet = models.IntegerField(db_default=0)
    held = models.BooleanField(db_default=False)
    run_after = models.DateTimeField(null=True, blank=True)
    attempt = models.IntegerField(db_default=0)
    max_attempts = models.IntegerField(db_default=5)
    token = models.BigIntegerField(db_default=0)
    lease_by = models.TextField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    request_id = models.TextField(null=True, blank=True)
    # When a claim noticed that the lease had run out; what decides is lease_expires_at.
    lost_at = models.DateTimeField(null=True, blank=True)
    progress = models.FloatField(db_default=0.0)
    labels = ArrayField(models.TextField(), db_default=[])
    payload = models.JSONField(db_default={})
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(null=True, blank=True)
    audio_seconds = models.FloatField(null=True, blank=True)
    external_id = models.TextField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # The end before it was requeued, as finished_at is null again: ending took it out of the lane.
    last_ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = list(JOB_CONSTRAINTS)
        indexes = list(JOB_INDEXES)


class JobDependency(models.Model):
    """``job`` may run only when ``needs`` is done."""

    id = models.BigAutoField(primary_key=True)
    guild_id = models.BigIntegerField()
    job = models.ForeignKey(Job, on_delete=models.CASCADE, db_index=False, related_name="+")
    needs = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")

    class Meta:
        db_table = "guildqueue_job_dependency"
        constraints = [
            models.UniqueConstraint(fields=["job", "needs"], name="job_dependency_once"),
            check("job_dependency_other", ~Q(job=models.F("needs")), "A job does not need itself."),
        ]


class ClaimCursor(models.Model):
    """Whose turn it was: the newest row of a principal and filter scope counts.

    Rows are only ever added, and pruned behind the newest: a row that every claim
    rewrites would be what an old snapshot makes slow. The primary key in the database is
    (principal, filter_hash, id), by which the newest is found.
    """

    id = models.BigAutoField(primary_key=True)
    principal = models.TextField()
    filter_hash = models.TextField()
    guild_id = models.BigIntegerField()
    claimed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "guildqueue_claim_cursor"


class QueueEvent(models.Model):
    """One record of the ledger; names things by value, so that it outlives them."""

    event_id = models.BigAutoField(primary_key=True)
    guild_id = models.BigIntegerField()
    at = models.DateTimeField()
    type = models.TextField()
    by = models.TextField()
    on_behalf_of = models.TextField(null=True, blank=True)
    reason = models.TextField(blank=True, db_default="")
    changed = models.JSONField()
    correlation_id = models.TextField(blank=True, db_default="")
    untrusted = models.BooleanField(db_default=False)
    prev_digest = models.TextField(blank=True, db_default="")
    digest = models.TextField()

    class Meta:
        db_table = "guildqueue_queue_event"
        indexes = [models.Index(fields=["guild_id", "-event_id"], name="queue_event_newest")]


class ApiToken(models.Model):
    """A machine's bearer token: only its hash is here.

    ``guild_ids`` and ``verbs`` are its scope; ``user`` is whom it acts as on the JSON API;
    ``source`` is the one declared automation that it may speak for.
    """

    id = models.BigAutoField(primary_key=True)
    name = models.TextField()
    sha256 = models.TextField(unique=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    guild_ids = ArrayField(models.BigIntegerField(), db_default=[])
    verbs = ArrayField(models.TextField(), db_default=[])
    source = models.TextField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "guildqueue_api_token"
