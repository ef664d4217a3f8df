"""Who asks on the command line: the process's account, and the source that it names."""

import os

from guildqueue.domain.grant import Asker
from guildqueue.management.account import account_caller


def command_asker(source: str | None = None) -> Asker:
    """The account that runs this process; nothing of it comes from the environment."""
    return Asker(uid=os.getuid(), principal=account_caller().principal, source=source)
