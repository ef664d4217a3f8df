"""The same rules in fewer words: each statement that writes a job parses all of them anew."""

from django.db import migrations, models
from django.db.models import Q
from django.db.models.lookups import Exact


class Migration(migrations.Migration):
    """Reads all jobs once, with the table locked; what holds before holds after."""

    dependencies = [("guildqueue", "0006_marks")]

    operations = [
        migrations.RemoveConstraint(model_name="job", name="job_lease_when_running"),
        migrations.RemoveConstraint(model_name="job", name="job_ended_left_lane"),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=Q(
                    Exact(Q(("state", "running")), Q(("lease_by__isnull", False))),
                    Exact(Q(("lease_by__isnull", True)), Q(("lease_expires_at__isnull", True))),
                ),
                name="job_lease_when_running",
                violation_error_message="A job has a lease exactly while it runs.",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=Q(
                    ("finished_at__isnull", True), ("bump_seq__isnull", True), _connector="OR"
                ),
                name="job_ended_left_lane",
                violation_error_message="A job that ended has left the lane.",
            ),
        ),
    ]
