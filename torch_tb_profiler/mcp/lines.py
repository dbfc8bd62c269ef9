"""Lines from the client. What is no request gets an error here: the SDK drops it, and the client waits for ever."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, BinaryIO

import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

#: bytes of a line; the longest arguments of a tool are far shorter
LONGEST_LINE = 4 << 20


async def requests(stream: BinaryIO, answer: Callable[[SessionMessage], Awaitable[None]]) -> AsyncIterator[str]:
    """The lines that the SDK takes as what they are; the others are answered."""
    while (read := await anyio.to_thread.run_sync(_line, stream))[0]:
        line, is_cut = read
        text = line.decode(errors="replace")
        error = _error(None, types.INVALID_REQUEST, "the line is too long") if is_cut else refusal(text)
        if error is None:
            yield text
        else:
            await answer(SessionMessage(error))


def _line(stream: BinaryIO) -> tuple[bytes, bool]:
    """The next line, and whether its end was left out."""
    line = rest = stream.readline(LONGEST_LINE)
    while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
        rest = stream.readline(LONGEST_LINE)
    return line, rest is not line


def refusal(line: str) -> types.JSONRPCError | None:
    """The error for a line that is neither a message of JSON-RPC 2.0 nor blank; None for others."""
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
    """With the id null where what was sent as one cannot be sent back."""
    is_text = isinstance(number, str) and number == number.encode(errors="replace").decode()  # no half of a surrogate
    known = number if is_text or type(number) is int else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=message))
