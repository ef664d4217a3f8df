"""What the ORM cannot say: composite keys, the lane's sequence, triggers, storage settings."""

from django.db import migrations

# A job's guild is its session's guild. NO KEY UPDATE of the session does not wait for this.
SESSION_KEY = """
ALTER TABLE guildqueue_job
  ADD CONSTRAINT job_session_of_guild FOREIGN KEY (guild_id, session_id)
  REFERENCES guildqueue_session (guild_id, id);
"""

# The order in which jobs entered the lane; a sequence, as a moment ties within a transaction.
BUMP_SEQUENCE = "CREATE SEQUENCE guildqueue_bump_seq AS bigint;"

# Ended jobs are counted by every writer, also one at a psql prompt. A claim or a heartbeat
# never fires this: neither enters nor leaves an ended state.
COUNT_ENDED = """
CREATE FUNCTION guildqueue_count_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state NOT IN ('pending', 'running') THEN
    INSERT INTO guildqueue_guild_count (guild_id, state, delta) VALUES (OLD.guild_id, OLD.state, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state NOT IN ('pending', 'running') THEN
    INSERT INTO guildqueue_guild_count (guild_id, state, delta) VALUES (NEW.guild_id, NEW.state, 1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER job_count_inserted AFTER INSERT ON guildqueue_job FOR EACH ROW
  WHEN (NEW.state NOT IN ('pending', 'running')) EXECUTE FUNCTION guildqueue_count_ended();
CREATE TRIGGER job_count_deleted AFTER DELETE ON guildqueue_job FOR EACH ROW
  WHEN (OLD.state NOT IN ('pending', 'running')) EXECUTE FUNCTION guildqueue_count_ended();
CREATE TRIGGER job_count_updated AFTER UPDATE OF state ON guildqueue_job FOR EACH ROW
  WHEN (OLD.state <> NEW.state
        AND (OLD.state NOT IN ('pending', 'running') OR NEW.state NOT IN ('pending', 'running')))
  EXECUTE FUNCTION guildqueue_count_ended();
"""

# The ledger is append-only for every role that does not switch triggers off.
LEDGER = """
CREATE FUNCTION guildqueue_ledger_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % is refused', TG_OP USING ERRCODE = '55000';
END $$;
CREATE TRIGGER queue_event_append_only BEFORE UPDATE OR DELETE ON guildqueue_queue_event
  FOR EACH ROW EXECUTE FUNCTION guildqueue_ledger_is_append_only();
CREATE TRIGGER queue_event_no_truncate BEFORE TRUNCATE ON guildqueue_queue_event
  FOR EACH STATEMENT EXECUTE FUNCTION guildqueue_ledger_is_append_only();
"""

# Room on each page keeps heartbeats heap-only; vacuum by number, as the table's size
# says nothing about how fast it turns over.
STORAGE = """
ALTER TABLE guildqueue_job SET (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
"""


class Migration(migrations.Migration):
    """Runs once, right after the tables."""

    dependencies = [("guildqueue", "0001_tables")]

    operations = [
        migrations.RunSQL(
            SESSION_KEY, "ALTER TABLE guildqueue_job DROP CONSTRAINT job_session_of_guild;"
        ),
        migrations.RunSQL(BUMP_SEQUENCE, "DROP SEQUENCE guildqueue_bump_seq;"),
        migrations.RunSQL(
            COUNT_ENDED,
            "DROP TRIGGER job_count_inserted ON guildqueue_job;"
            "DROP TRIGGER job_count_deleted ON guildqueue_job;"
            "DROP TRIGGER job_count_updated ON guildqueue_job;"
            "DROP FUNCTION guildqueue_count_ended();",
        ),
        migrations.RunSQL(
            LEDGER,
            "DROP TRIGGER queue_event_append_only ON guildqueue_queue_event;"
            "DROP TRIGGER queue_event_no_truncate ON guildqueue_queue_event;"
            "DROP FUNCTION guildqueue_ledger_is_append_only();",
        ),
        migrations.RunSQL(STORAGE, "ALTER TABLE guildqueue_job RESET (fillfactor);"),
    ]
