"""The MCP server on standard input and output: tools called in one thread, refusals as errors."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

import mcp_types as types
import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connections
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from guildqueue.domain.errors import InvalidInput, QueueError, shortened
from guildqueue.management.agent_tools import TOOLS, Answer, Arguments, LaneRefused, Tool
from guildqueue.services.wakeups import WakeUps

ABOUT = (
    "A queue of recorded meetings. `ready` shows work, `claim` takes it; keep the lease alive with "
    "`heartbeat` and end it with `complete`, `fail` or `release`, naming its token."
)
_log = structlog.get_logger(__name__)


async def serve() -> None:
    """Answer on standard input and output until the input ends."""
    # One thread, so one connection to the database however many tools are called at once.
    with (
        ThreadPoolExecutor(1, thread_name_prefix="tools") as thread,
        closing(_Calls(thread)) as calls,
    ):
        server = Server(
            "guild-queue",
            version="1",
            instructions=ABOUT,
            on_list_tools=_list_tools,
            on_call_tool=calls.call,
        )
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        thread.submit(connections.close_all)


async def _list_tools(
    _context: Any, _params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, description=tool.about, input_schema=tool.schema)
            for name, tool in TOOLS.items()
        ]
    )


class _Calls:
    """Runs tools in the thread, and again those that wait when there may be work."""

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._wake_ups = WakeUps(self._wake_from_thread)
        self._waiting: set[asyncio.Event] = set()

    def close(self) -> None:
        self._wake_ups.close()

    async def call(
        self, _context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool, given = TOOLS.get(params.name), _with_whole_numbers(params.arguments or {})
        if tool is None:
            return _refused(f"no tool {shortened(params.name)}; there are: {', '.join(TOOLS)}")
        if fault := _fault(tool, given):
            return _refused(fault, refusal="invalid-value")
        try:
            return _told(await self._answer(tool, given))
        except Exception as error:  # noqa: BLE001 - each is told as what it is
            return _failed(params.name, error)

    async def _answer(self, tool: Tool, given: Arguments) -> Answer:
        """The tool's answer; with ``wait`` a claim's first that is not empty."""
        ends_at = time.monotonic() + given.get("wait", 0)
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            while True:
                woken.clear()
                answer = await self._loop.run_in_executor(self._thread, _run, tool, given)
                left_s = ends_at - time.monotonic()
                if answer.get("leases") != [] or left_s <= 0:
                    return answer
                self._wake_ups.expect()
                # Whoever waits holds no connection but the one that hears.
                await self._loop.run_in_executor(self._thread, connections.close_all)
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(settings.QUEUE_POLL_SECONDS, left_s)):
                        await woken.wait()
        finally:
            self._waiting.remove(woken)

    def _wake_from_thread(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for woken in self._waiting:
            woken.set()


def _run(tool: Tool, given: Arguments) -> Answer:
    close_old_connections()
    return tool.run(given)


def _with_whole_numbers(given: Arguments) -> Arguments:
    """JSON knows one kind of number: 3.0 is a 3."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in given.items()
    }


def _fault(tool: Tool, given: Arguments) -> str | None:
    """What is wrong with the arguments; None if they fit."""
    text = json.dumps(given, ensure_ascii=False)
    if "\0" in text or "\\u0000" in text or any("\ud800" <= c <= "\udfff" for c in text):
        return "text may hold neither NUL nor half a surrogate pair"
    found = next(iter(Draft202012Validator(tool.schema).iter_errors(given)), None)
    if found is None:
        return None
    where = ".".join(map(str, found.absolute_path))
    return f"{where}: {found.message[:300]}" if where else found.message[:300]


def _word(error: QueueError) -> str:
    """The refusal's word, where it has one; else what kind of error it is."""
    if isinstance(error, InvalidInput):
        return "invalid-value"
    return str(getattr(error, "refusal", "not-found"))


def _told(answer: Answer) -> types.CallToolResult:
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=answer
    )


def _failed(name: str, error: Exception) -> types.CallToolResult:
    """What a tool raised, in words; what only we can mend stays in the log."""
    match error:
        case LaneRefused():
            return _refused(str(error), **error.outcome.as_json())
        case QueueError():
            return _refused(str(error), refusal=_word(error))
        case OperationalError() | InterfaceError():
            _log.warning("tool failed", tool=name, reason=str(error))
            return _refused("the database does not answer; try again in a moment")
        case _:
            _log.error("tool failed", tool=name, exc_info=error)
            return _refused("a fault of this server; it is in its log")


def _refused(reason: str, **facts: Any) -> types.CallToolResult:
    """A tool error that says why, and in which word."""
    body = {"detail": reason, **facts}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reason)],
        structured_content=body,
        is_error=True,
    )
