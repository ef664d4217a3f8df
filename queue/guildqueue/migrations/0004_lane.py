"""Who let what run next, and what a check of the ledger needs to know of an earlier end."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds columns and an index; a worker of the release before needs neither."""

    dependencies = [
        ("guildqueue", "0003_turns"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="bump_reason",
            field=models.TextField(blank=True, db_default=""),
        ),
        migrations.AddField(
            model_name="job",
            name="bumped_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="bumped_by",
            field=models.TextField(blank=True, db_default=""),
        ),
        migrations.AddField(
            model_name="job",
            name="last_ended_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("bump_seq__isnull", False)),
                fields=["guild", "bump_seq"],
                name="job_lane",
            ),
        ),
    ]
