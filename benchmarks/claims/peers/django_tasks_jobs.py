"""django-tasks-db: its no-op task."""

import django
from django_tasks import task

from benchmarks.claims.counters import count
from benchmarks.claims.told import enqueue_when_told


@task()
def noop() -> None:
    count()


if __name__ == "__main__":
    django.setup()
    # By the module's own name: the task's path is stored.
    from benchmarks.claims.peers.django_tasks_jobs import noop as stored

    enqueue_when_told(stored.enqueue)
