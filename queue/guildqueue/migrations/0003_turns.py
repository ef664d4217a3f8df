"""The head of each guild's line, for claims in turns."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds an index; a worker of the release before does not need it."""

    dependencies = [("guildqueue", "0002_invariants")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(
                    ("held", False), ("run_after__isnull", True), ("state", "pending"), ("unmet", 0)
                ),
                fields=["guild", "bump_seq", "priority", "id"],
                name="job_turn",
            ),
        ),
    ]
