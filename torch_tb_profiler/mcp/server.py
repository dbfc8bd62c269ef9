"""The server: tools, resources and prompts on the standard input and output. Nothing is written, nothing is fetched.

Lines that are no request get an error here: the SDK drops them, and the client waits for ever.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.codec import convert
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.resources import INSTRUCTIONS, PROMPTS, RESOURCES, SUMMARY_TEMPLATE, messages_of, read
from torch_tb_profiler.mcp.tool import AnyTool, fit_to_limit, schema_of_arguments
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.reason import ErrorWithReason

#: bytes of a line; the longest arguments of a tool are far shorter
LONGEST_LINE = 4 << 20


async def requests(stream: BinaryIO, answer: Callable[[SessionMessage], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield the lines that the SDK understands; answer the others with an error."""
    while (read := await anyio.to_thread.run_sync(_line, stream))[0]:
        line, is_cut = read
        text = line.decode(errors="replace")
        error = _error(None, types.INVALID_REQUEST, "the line is too long") if is_cut else refusal(text)
        if error is None:
            yield text
        else:
            await answer(SessionMessage(error))


def _line(stream: BinaryIO) -> tuple[bytes, bool]:
    """Return the next line, and whether its end was left out."""
    line = rest = stream.readline(LONGEST_LINE)
    while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
        rest = stream.readline(LONGEST_LINE)
    return line, rest is not line


def refusal(line: str) -> types.JSONRPCError | None:
    """Return the error for a line that is neither a message of JSON-RPC 2.0 nor blank; None for others."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    fields: dict[str, Any] = message if isinstance(message, dict) else {}
    if not line.strip() or ("method" not in fields and not fields.keys().isdisjoint(("result", "error"))):
        return None  # the id of a response is one of ours, so an error with it would answer another request
    try:
        parsed = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if "id" not in fields or isinstance(parsed, types.JSONRPCRequest):
            return None
    except ValidationError as error:
        (first, *_) = error.errors(include_input=False)
        if first["type"] == "json_invalid":
            return _error(fields.get("id"), types.PARSE_ERROR, first["msg"])
    if not isinstance(fields.get("params"), dict | None):
        return _error(fields.get("id"), types.INVALID_PARAMS, "params must be an object")
    text = "a line must be one message of JSON-RPC 2.0, whose id is a string or an integer"
    return _error(fields.get("id"), types.INVALID_REQUEST, text)


def _error(number: Any, code: int, message: str) -> types.JSONRPCError:
    """Make an error, with the id null where what was sent as one cannot be sent back."""
    is_text = isinstance(number, str) and number == number.encode(errors="replace").decode()  # no half of a surrogate
    known = number if is_text or type(number) is int else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=message))


log = logging.getLogger(__name__)

T = TypeVar("T")

#: of a sentence about what went wrong
_LONGEST_ERROR = 400
_INVALID_PARAMS = -32602
_TICK_SECONDS = 1.0
_OF_TRACE = "A trace, as the tool traces lists it."


@dataclass(frozen=True)
class CallLimits:
    """Limits of one call.

    seconds  until it is answered with an error; what it began goes on, so that a later call finds it done
    at_once  calls that are computed at the same time; others wait
    """

    seconds: float = 60.0
    at_once: int = 2


@dataclass
class ProfileServer:
    """Answers the calls of clients."""

    catalog: TraceCatalog
    limits: CallLimits = field(default_factory=CallLimits)
    tools: tuple[AnyTool, ...] = TOOLS

    def __post_init__(self) -> None:
        self._by_name = {tool.name: tool for tool in self.tools}
        self._room = anyio.CapacityLimiter(self.limits.at_once)

    def server(self) -> Server[Any]:
        """Return the server object of the MCP SDK."""
        return Server(
            "torch-tb-profiler",
            version=__version__,
            title="PyTorch profiles",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    # tools ------------------------------------------------------------------------------------------------

    async def _list_tools(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool_of(tool) for tool in self.tools])

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._by_name.get(params.name)
        if tool is None:
            return _refused("there is no such tool")
        try:
            params_given = convert(params.arguments or {}, tool.arguments)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:  # half of a pair of surrogates is no text
            return _refused(str(error))
        try:
            return await self._computed(context, partial(self._answer, tool, params_given))
        except TimeoutError:
            return _refused(
                f"no answer after {self.limits.seconds:g} s; it is being computed, so call again in a minute, or read "
                "all traces before with: torch-tb-profiler ingest ROOT"
            )
        except ErrorWithReason as error:
            return _refused(self._without_names(str(error)))
        except Exception:
            mark = uuid.uuid4().hex[:8]
            log.exception("error %s in the tool %s", mark, tool.name)
            return _refused(f"an error occurred in the server; its error output has details under {mark}")

    def _answer(self, tool: AnyTool, params: Any) -> types.CallToolResult:
        text = fit_to_limit(tool, tool.compute(self.catalog, params))
        # once: with `structured_content` beside it, a model would read, or a client carry, every answer twice
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], _meta={"untrusted": list(tool.untrusted)}
        )

    async def _computed(self, context: Any, compute: Callable[[], T]) -> T:
        """Compute in a thread, sending progress every second if the client wants it. Raises TimeoutError."""
        ticker = asyncio.create_task(_tell_progress(context))
        try:
            with anyio.fail_after(self.limits.seconds):
                return await anyio.to_thread.run_sync(compute, abandon_on_cancel=True, limiter=self._room)
        finally:
            ticker.cancel()

    def _without_names(self, text: str) -> str:
        """Take the names of files, which are from outside, out of a message."""
        for trace in self.catalog.listing.traces.values():
            text = text.replace(trace.file, "the trace")
        return text

    # resources and prompts --------------------------------------------------------------------------------

    async def _list_resources(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(name=each.name, uri=uri, description=each.help, mime_type=each.kind)
                for uri, each in RESOURCES.items()
            ]
        )

    async def _list_templates(
        self, _: Any, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="summary",
            uri_template=SUMMARY_TEMPLATE,
            description="What the tool summary answers for a trace; its id is percent-encoded.",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            kind, text = await self._computed(context, partial(read, self.catalog, uri))
        except (ErrorWithReason, TimeoutError) as error:
            message = self._without_names(str(error)) or "no answer in time; call again in a minute"
            raise MCPError(_INVALID_PARAMS, harmless(message, _LONGEST_ERROR)) from None
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)])

    async def _list_prompts(self, _: Any, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name,
                    description=prompt.help,
                    arguments=[
                        types.PromptArgument(name=each, description=_OF_TRACE, required=True)
                        for each in prompt.arguments
                    ],
                )
                for name, prompt in PROMPTS.items()
            ]
        )

    async def _get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = await self._computed(
                context, partial(messages_of, self.catalog, params.name, params.arguments or {})
            )
        except ErrorWithReason as error:
            raise MCPError(_INVALID_PARAMS, harmless(str(error), _LONGEST_ERROR)) from None
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def tool_of(tool: AnyTool) -> types.Tool:
    """Return the description of a tool for clients."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.summary,
        input_schema=schema_of_arguments(tool.arguments),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def serve(catalog: TraceCatalog, limits: CallLimits | None = None, tools: tuple[AnyTool, ...] = TOOLS) -> None:
    """Answer on the standard input and output until the input ends. Raises OSError where nothing can be written."""
    # its own lines are for those who develop servers
    logging.getLogger("mcp").setLevel(logging.ERROR)

    async def run() -> None:
        server = ProfileServer(catalog, limits or CallLimits(), tools).server()

        async def answer(message: SessionMessage) -> None:
            await write_stream.send(message)

        lines: Any = requests(sys.stdin.buffer, answer)  # the SDK needs an asynchronous iterator
        async with stdio_server(lines) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    try:
        anyio.run(run)
    except Exception as error:  # noqa: BLE001 - the group of a task that failed
        raise _only_cause(error) from None


def _only_cause(error: Exception) -> Exception:
    """Return the one error of a group, if it has one."""
    inside: tuple[Exception, ...] = getattr(error, "exceptions", ())
    return _only_cause(inside[0]) if len(inside) == 1 else error


async def _tell_progress(context: Any) -> None:
    seconds = 0
    while True:
        await anyio.sleep(_TICK_SECONDS)
        seconds += 1
        await context.session.report_progress(float(seconds), None, f"{seconds} s: the trace is being read or analysed")


def _refused(text: str) -> types.CallToolResult:
    content = types.TextContent(type="text", text=harmless(text, _LONGEST_ERROR))
    return types.CallToolResult(content=[content], is_error=True)
