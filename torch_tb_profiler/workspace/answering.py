"""The process that answers about large traces: takes orders from stdin, asks models, says on stdout what was found.

It ends with the server: the end of stdin says that the server is gone, however it went.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import IO, Any, Literal

import msgspec

from torch_tb_profiler import spill
from torch_tb_profiler.workspace.asking import Asking
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.give_back import give_back, held, keep_little
from torch_tb_profiler.workspace.unused import Unused

Method = Literal["ask", "drop"]

#: bytes of memory from which on what answers were made of is not kept for the next ones
FORGET_FROM = 800 * 1000**2

#: orders under way at once; the others wait
_THREADS = 32
_HEAD = struct.Struct("<QQ")


class Order(msgspec.Struct, frozen=True):
    """What is asked: a method of `Asking`, called with `arguments`."""

    method: Method
    arguments: tuple[Any, ...]


class Reply(msgspec.Struct, frozen=True):
    """What was found, or with `is_error` the error that was raised. raised_at: as `traceback` writes it."""

    found: Any
    is_error: bool = False
    raised_at: str = ""


class Unanswered(Exception):
    """The process that answers has ended; asking again may help. The message is a sentence for a user."""


class RaisedAt(Exception):
    """The cause of an error that was raised in the process: where that was."""


def write_message(stream: IO[bytes], number: int, content: bytes) -> None:
    """number: of an order, and of the reply to it, which may come behind those to later ones."""
    stream.write(_HEAD.pack(number, len(content)) + content)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """The next one; None at the end of the stream, and where it ends early."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    number, length = _HEAD.unpack(head)
    content = stream.read(length)
    return (number, content) if len(content) == length else None


def main(directory: str, expansion: int, version: str) -> None:
    """Arguments: of the cache of the server, which sweeps it."""
    keep_little()
    spill.use(Path(directory))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints goes to stderr
    asking = Asking(Cache(Path(directory), expansion=expansion, version=version))
    Unused((asking.drop_unused,)).start()
    lock = Lock()

    def say(number: int, reply: Reply) -> None:
        content = _packed(reply)
        with lock:
            write_message(replies, number, content)

    with ThreadPoolExecutor(_THREADS, "answer") as threads:
        while (message := read_message(sys.stdin.buffer)) is not None:
            threads.submit(_obey, asking, *message, say)
        os._exit(0)


def _obey(asking: Asking, number: int, content: bytes, say: Callable[[int, Reply], None]) -> None:
    try:
        order: Order = pickle.loads(content)  # noqa: S301 - of the process that has started this one
        with spill.watched():
            reply = Reply(getattr(asking, order.method)(*order.arguments))
    except BaseException as error:  # noqa: BLE001 - who has asked gets it
        reply = Reply(error, is_error=True, raised_at=traceback.format_exc())
    try:
        say(number, reply)
        del reply
        if held() > FORGET_FROM:
            asking.models.forget_answers()
            give_back()
    except OSError:  # nobody is there any more
        os._exit(0)


def _packed(reply: Reply) -> bytes:
    """A reply as it is sent. An exception that cannot be sent is told in words."""
    try:
        content = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
        if reply.is_error:
            pickle.loads(content)  # noqa: S301 - it was made here
    except Exception as error:  # noqa: BLE001 - whatever an exception of somebody else does
        what = RuntimeError(str(reply.found) if reply.is_error else f"an answer cannot be sent: {error}")
        return pickle.dumps(Reply(what, is_error=True, raised_at=reply.raised_at or traceback.format_exc()))
    return content
