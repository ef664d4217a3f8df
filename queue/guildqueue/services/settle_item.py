"""Say how an item of a queue without a database ended."""

from pathlib import Path

from guildqueue.domain.errors import JobNotFound
from guildqueue.domain.lane import Standing
from guildqueue.domain.lane_refusals import JobFinished, WrittenByNewer
from guildqueue.domain.principal import Principal
from guildqueue.store import lane_file
from guildqueue.store.lane_file import LaneFolder


def settle_item(folder: Path, *, slug: str, outcome: Standing, by: Principal) -> bool:
    """Write the outcome; False if it was so already.

    Who may write queue.txt may do it; the lane is swept by the next bump or un-bump. Raises
    JobNotFound, JobFinished for another outcome, WrittenByNewer, QueueUnreadable or OSError.
    """
    files = LaneFolder(folder)
    with lane_file.alone(files):
        job = lane_file.read_state(files).jobs.get(slug)
        if job is None:
            raise JobNotFound(slug)
        if job.is_newer:
            raise WrittenByNewer(slug, [slug])
        if not job.is_unfinished and job.standing is not outcome:
            raise JobFinished(slug, job.standing)
        if not job.is_unfinished:
            return False
        lane_file.append_outcome(files, slug, outcome, by=str(by))
    return True
