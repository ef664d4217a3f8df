"""What a handler process has been told to do and has not begun."""

import contextlib
import threading
from collections.abc import Iterable
from socket import socket

from guildqueue.worker.protocol import Drop, Dropped, Order, Report, decode_order
from guildqueue.worker.reports import Reports


class Todo:
    """Orders in the order of their coming. ``changed`` guards them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._orders: dict[int, Order] = {}

    def add(self, orders: Iterable[Order]) -> None:
        """They are begun after all that came before."""
        with self.changed:
            self._orders.update((order.work.job_id, order) for order in orders)
            self.changed.notify()

    def take(self) -> Order:
        """The next one, which from now on is begun; waits until there is one."""
        with self.changed:
            while not self._orders:
                self.changed.wait()
            return self._orders.pop(next(iter(self._orders)))

    def drop(self, drop: Drop) -> list[int]:
        """The jobs that will not be begun now."""
        with self.changed:
            dropped = [job_id for job_id in self._orders if job_id in drop.job_ids]
            for job_id in dropped:
                del self._orders[job_id]
            return dropped

    @property
    def is_empty(self) -> bool:
        return not self._orders


def read_orders(worker: socket, todo: Todo, reports: Reports) -> None:
    """Returns when the worker is gone."""
    with contextlib.suppress(OSError), worker.makefile("rb") as lines:
        for line in lines:
            said = decode_order(line)
            if not isinstance(said, Drop):
                todo.add(said)
                continue
            # Said before anything behind them is begun, so that reports keep the jobs' order.
            with todo.changed:
                for job_id in todo.drop(said):
                    reports.say(Report(job_id, Dropped()), is_urgent=False)
                reports.ring()
