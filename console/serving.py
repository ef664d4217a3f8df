"""Settings of a process that answers HTTP: the same, with connections from a pool.

A command or a worker keeps one plain connection, and would pay a pool's threads for nothing.
"""

from console import databases
from console.settings import *  # noqa: F403
from console.settings import DATABASE_POOL_MAX, DATABASES

DATABASES["default"] = databases.with_pool(DATABASES["default"], max_size=DATABASE_POOL_MAX)
