"""Work on the queue from anywhere, over HTTP with a token: no database, no Django.

``for lease in Client(url, token).leases(JobFilter(kinds=frozenset({"transcribe"}))): …``
"""

from guildqueue.client.aio import AsyncClient, AsyncLease
from guildqueue.client.errors import ConsoleAway, LeaseLost, RequestFailed
from guildqueue.client.sync import Client, Lease
from guildqueue.domain.filters import JobFilter

__all__ = [
    "AsyncClient",
    "AsyncLease",
    "Client",
    "ConsoleAway",
    "JobFilter",
    "Lease",
    "LeaseLost",
    "RequestFailed",
]
