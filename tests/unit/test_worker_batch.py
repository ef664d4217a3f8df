"""Where each lease of a batch stands, whatever its handler process says and when."""

import threading
from typing import Any, cast

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Lease
from guildqueue.worker.batch import Batch
from guildqueue.worker.handler import HandlerWork
from guildqueue.worker.protocol import Done, Drop, Dropped, Failed, Order, Progress, Report
from guildqueue.worker.todo import Todo

DONE = Done({}, None)


class FakeLease:
    """Of which a batch only asks for the job's id."""

    def __init__(self, job_id: int) -> None:
        self.job = self
        self.id = JobId(job_id)


def batch_of(*job_ids: int) -> Batch:
    batch = Batch()
    batch.take([cast(Lease, FakeLease(job_id)) for job_id in job_ids])
    return batch


def ids(leases: Any) -> list[int]:
    return [lease.job.id for lease in leases]


def ended(batch: Batch) -> list[tuple[int, Any]]:
    return [(one.lease.job.id, one.outcome) for one in batch.ended]


def test_a_job_that_ended_is_no_longer_open() -> None:
    batch = batch_of(5, 3, 4)

    batch.hear([Report(5, DONE), Report(3, Failed("no"))])

    assert ended(batch) == [(5, DONE), (3, Failed("no"))]
    assert (list(batch.open), batch.first) == ([4], 4)


def test_a_process_that_ends_is_blamed_on_the_job_after_the_last_report() -> None:
    batch = batch_of(5, 3, 4)
    batch.hear([Report(5, DONE)])

    batch.blame_first(Failed("killed"))

    assert ended(batch) == [(5, DONE), (3, Failed("killed"))]
    assert list(batch.open) == [4]


def test_nothing_of_a_lost_job_is_written_whatever_its_process_says() -> None:
    batch = batch_of(1, 2, 3)
    for job_id in (1, 2, 9):
        batch.lose(JobId(job_id))

    batch.hear([Report(1, DONE), Report(2, Dropped())])

    assert (ended(batch), batch.unbegun, list(batch.open), batch.lost) == ([], [], [3], set())


def test_a_lost_job_is_left_out_where_a_new_process_begins() -> None:
    batch = batch_of(1, 2, 3)
    batch.lose(JobId(2))

    batch.begin_again()

    assert (list(batch.open), batch.lost) == ([1, 3], set())


def test_what_was_dropped_or_given_up_is_to_be_handed_back() -> None:
    batch = batch_of(1, 2, 3)

    batch.hear([Report(2, Dropped())])
    batch.give_up()

    assert ids(batch.unbegun) == [2, 1, 3]
    assert not batch.open
    assert not batch.is_empty


def test_progress_is_of_the_first_job_and_begins_anew_with_the_next() -> None:
    batch = batch_of(1, 2)

    batch.hear([Report(2, Progress(0.9))])
    assert batch.progress == 0.0
    batch.hear([Report(1, Progress(0.5))])
    assert batch.progress == 0.5
    batch.hear([Report(1, DONE)])
    assert batch.progress == 0.0


def order(job_id: int) -> Order:
    work = HandlerWork(
        job_id=job_id, guild_id=1, session_id=1, kind="transcribe", token=1, payload={}
    )
    return Order("some.handler", work)


def test_what_was_begun_can_no_longer_be_dropped() -> None:
    todo = Todo()
    todo.add([order(1), order(2), order(3)])

    assert todo.take().work.job_id == 1
    assert todo.drop(Drop(frozenset({1, 3, 7}))) == [3]
    assert todo.take().work.job_id == 2
    assert todo.is_empty


def test_whoever_waits_for_an_order_gets_the_next_that_comes() -> None:
    todo, taken = Todo(), list[int]()
    waiting = threading.Thread(target=lambda: taken.append(todo.take().work.job_id))
    waiting.start()

    todo.add([order(8)])

    waiting.join(5)
    assert taken == [8]
