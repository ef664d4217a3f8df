"""What a claim counts under a cap, and what a request id was given."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a column and indexes; a worker of the release before knows and needs none of them."""

    dependencies = [("guildqueue", "0004_lane")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="request_id",
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="guild",
            index=models.Index(
                condition=models.Q(("running_cap__isnull", False)),
                fields=["id"],
                name="guild_capped",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("state", "running")),
                fields=["guild", "bump_seq", "priority", "id"],
                name="job_running_guild",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("request_id__isnull", False), ("state", "running")),
                fields=["lease_by", "request_id"],
                name="job_request",
            ),
        ),
    ]
