"""Where each guild's line begins and how many of its jobs run, so that claims survive an old snapshot."""

from pathlib import Path

from django.db import migrations, models

from guildqueue.store.statements import load_statements

SQL = load_statements(Path(__file__).with_name("sql"))
ONE_CURSOR_INDEX = """
ALTER TABLE guildqueue_claim_cursor DROP CONSTRAINT guildqueue_claim_cursor_pkey,
  ADD PRIMARY KEY (principal, filter_hash, id);
"""
TWO_CURSOR_INDEXES = """
ALTER TABLE guildqueue_claim_cursor DROP CONSTRAINT guildqueue_claim_cursor_pkey,
  ADD PRIMARY KEY (id);
"""
UNDO = """
DROP FUNCTION guildqueue_complete_jobs_1;
DROP FUNCTION guildqueue_claim_in_turns_1;
DROP FUNCTION guildqueue_lock_heads;
DROP FUNCTION guildqueue_look_ahead;
DROP FUNCTION guildqueue_next_turns;
DROP FUNCTION guildqueue_lock_lane;
DROP TYPE guildqueue_heads;
DROP TYPE guildqueue_turn;
DROP TYPE guildqueue_scope;
DROP FUNCTION guildqueue_has_slot;
DROP FUNCTION guildqueue_raise_lane;
DROP FUNCTION guildqueue_raise_marks;
DROP FUNCTION guildqueue_snapshot_of_others;
DROP FUNCTION guildqueue_n_running;
DROP FUNCTION guildqueue_is_foreign;
DROP TRIGGER job_marks_truncated ON guildqueue_job;
DROP TRIGGER job_arrived ON guildqueue_job;
DROP TRIGGER job_became_claimable ON guildqueue_job;
DROP TRIGGER job_running_inserted ON guildqueue_job;
DROP TRIGGER job_running_deleted ON guildqueue_job;
DROP TRIGGER job_state_updated ON guildqueue_job;
CREATE TRIGGER job_count_updated AFTER UPDATE OF state ON guildqueue_job FOR EACH ROW
  WHEN (OLD.state <> NEW.state
        AND (OLD.state NOT IN ('pending', 'running') OR NEW.state NOT IN ('pending', 'running')))
  EXECUTE FUNCTION guildqueue_count_ended();
DROP TABLE guildqueue_arrival;
DROP TABLE guildqueue_running_step;
DROP FUNCTION guildqueue_note_arrivals;
DROP FUNCTION guildqueue_arrived;
DROP FUNCTION guildqueue_became_claimable;
DROP FUNCTION guildqueue_came_into_line;
DROP FUNCTION guildqueue_lower_mark;
DROP FUNCTION guildqueue_flag_lost;
DROP FUNCTION guildqueue_count_state;
DROP FUNCTION guildqueue_count_running;
DROP FUNCTION guildqueue_forget_marks;
DROP TABLE guildqueue_mark;
"""


class Migration(migrations.Migration):
    """Adds a column, tables and triggers; a worker of the release before runs beside them."""

    dependencies = [("guildqueue", "0005_claims")]

    operations = [
        migrations.AddField(
            model_name="job",
            name="lost_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("lost_at__isnull", False), ("state", "running")),
                fields=["guild", "bump_seq", "priority", "id"],
                name="job_lost",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("lost_at__isnull", False), ("state", "running")),
                fields=["bump_seq", "priority", "id"],
                name="job_lost_lane",
            ),
        ),
        # One index does for a turn: each more is a page for every claim.
        migrations.RemoveIndex(model_name="claimcursor", name="claim_cursor_newest"),
        migrations.RunSQL(ONE_CURSOR_INDEX, TWO_CURSOR_INDEXES),
        # job_running_guild serves what this did, at one entry less for every claim.
        migrations.RemoveIndex(model_name="job", name="job_running"),
        migrations.RunSQL(SQL["marks_1"], UNDO),
        *(
            migrations.RunSQL(SQL[name], migrations.RunSQL.noop)
            for name in (
                "slots_1",
                "claim_walk_1",
                "claim_locks_1",
                "claim_in_turns_1",
                "complete_jobs_1",
            )
        ),
    ]
