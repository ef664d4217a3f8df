"""Who runs a command: the operating-system account, as its password database names it."""

import os
import pwd
import secrets
import socket

from guildqueue.domain.principal import Caller, Principal, PrincipalKind


def account_caller() -> Caller:
    """The account, in a request of its own."""
    return Caller(principal=_account(), correlation_id=secrets.token_hex(8))


def worker_principal() -> str:
    """The account, host and process, and something that no other process ever had.

    Leases belong to their principal, so a process that gets a dead one's number must not pass
    for it.
    """
    return f"{_account()}@{socket.gethostname()}/{os.getpid()}-{secrets.token_hex(4)}"


def _account() -> Principal:
    # Never $USER or $LOGNAME, which the caller may set to any name.
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"uid-{uid}"
    return Principal(PrincipalKind.ACCOUNT, name)
