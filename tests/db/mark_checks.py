"""What must hold of marks in every snapshot, and a raise at the moment that a test wants it."""

from django.db import transaction

from guildqueue.domain.ids import GuildId, JobId
from tests.db.races import query

LANE = GuildId(0)  # the line of what comes out of turn

# One statement, so one snapshot: each rule by its name, with the line that breaks it.
BROKEN = """
WITH mark AS (
    SELECT DISTINCT ON (guild_id) guild_id, priority, job_id
      FROM guildqueue_mark ORDER BY guild_id, id DESC),
claimable AS (
    SELECT guild_id, id, priority, bump_seq FROM guildqueue_job
     WHERE state = 'pending' AND unmet = 0 AND NOT held AND run_after IS NULL)
SELECT 'a claimable job before the mark of its guild' AS rule, job.guild_id, job.id
  FROM claimable AS job JOIN mark USING (guild_id)
 WHERE job.bump_seq IS NULL
   AND (mark.priority IS NULL OR (job.priority, job.id) < (mark.priority, mark.job_id))
UNION ALL
SELECT 'a claimable job before the mark of the lane', job.guild_id, job.id
  FROM claimable AS job JOIN mark ON mark.guild_id = 0
 WHERE job.bump_seq IS NOT NULL AND (mark.priority IS NULL OR job.bump_seq < mark.priority)
UNION ALL
SELECT 'a lost lease that no claim looks for', job.guild_id, job.id
  FROM guildqueue_job AS job JOIN mark ON mark.guild_id = 0 AND mark.priority IS NULL
 WHERE job.state = 'running' AND job.lost_at IS NOT NULL
UNION ALL
SELECT 'another count of what runs', guild.id, guildqueue_n_running(guild.id)
  FROM guildqueue_guild AS guild
 WHERE guildqueue_n_running(guild.id) <>
       (SELECT count(*) FROM guildqueue_job WHERE guild_id = guild.id AND state = 'running')
"""


@transaction.atomic
def check_marks() -> None:
    """Fails where a mark or a count is wrong in the snapshot of this moment.

    REPEATABLE READ, so that functions which would look later than the statement cannot.
    """
    query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    broken = query(BROKEN)
    assert not broken, broken[:5]


def first_claimable() -> list[JobId]:
    """The job that a claim has to take now, by the jobs alone; nothing where there is none."""
    found = query(
        "SELECT id FROM guildqueue_job WHERE unmet = 0 AND NOT held"
        " AND (state = 'pending' AND coalesce(run_after < now(), true)"
        "      OR state = 'running' AND lease_expires_at < now())"
        " ORDER BY bump_seq, priority, id LIMIT 1"
    )
    return [job_id for (job_id,) in found]


def raise_line(line: GuildId, *, counts: bool = False) -> None:
    """What a claim does now and then: put the mark where the line begins."""
    if line == LANE:
        query("SELECT guildqueue_raise_lane()")
    else:
        query("SELECT guildqueue_raise_marks(%s, %s)", [[line], [line] if counts else None])


def newest_mark(line: GuildId) -> tuple[int | None, int | None] | None:
    """The key at which the line begins; nulls where it is empty, None without a mark."""
    found = query(
        "SELECT priority, job_id FROM guildqueue_mark WHERE guild_id = %s ORDER BY id DESC LIMIT 1",
        [line],
    )
    return found[0] if found else None
