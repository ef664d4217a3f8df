"""``queue mcp``: the queue as tools for agents, over standard input and output."""

import asyncio
from typing import Any

from guildqueue.management.arguments import Options, add_subcommand
from guildqueue.management.output import Output


def add_subcommands(subparsers: Any) -> None:
    add_subcommand(subparsers, "mcp", run_mcp, about="Serve agents over MCP on stdin and stdout.")


def run_mcp(_out: Output, _options: Options) -> None:
    # A second of imports, which no other subcommand should pay.
    from guildqueue.management.agent_server import serve  # noqa: PLC0415

    asyncio.run(serve())
