"""What a handler is given of the jobs that its own needs."""

from guildqueue.domain.job import Job
from guildqueue.services.browse import job_inputs
from guildqueue.worker.handler import HandlerInput


def inputs_of(job: Job) -> list[HandlerInput]:
    """The results of the jobs that it needs, ascending; none are asked for where it needs none."""
    if not job.needs:
        return []
    return [
        HandlerInput(
            job_id=given.job_id,
            name=str(given.payload.get("name") or ""),
            result=given.result or {},
        )
        for given in job_inputs(job.id)
    ]
