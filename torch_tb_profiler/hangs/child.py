"""What runs in a process of its own: dumps from stdin → `DumpOutcome`s to stdout, within limits of memory and time.

Each way a message is its length in 8 bytes, then its content. A file that ends this process costs only itself: whoever
started it starts another one for the rest.
"""

from __future__ import annotations

import sys
from typing import IO

import msgspec

from torch_tb_profiler.hangs.dump import Dump, DumpError, read_dump
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.snapshot.child import limit_time, memory_limit
from torch_tb_profiler.words.sentences import because


class DumpOutcome(msgspec.Struct, frozen=True):
    """A dump, or why there is none."""

    dump: Dump | None = None
    reason: Reason | None = None


def main() -> None:
    """Argument: seconds of the processor."""
    limit_time(int(sys.argv[1]))
    allow_memory = memory_limit()
    encoder = msgspec.msgpack.Encoder()
    while (content := receive(sys.stdin.buffer)) is not None:
        allow_memory(len(content))
        send(sys.stdout.buffer, encoder.encode(_outcome(content)))


def _outcome(content: bytes) -> DumpOutcome:
    try:
        return DumpOutcome(dump=read_dump(content))
    except DumpError as error:
        return DumpOutcome(reason=error.reason)
    except MemoryError:
        return DumpOutcome(reason=because("dump_limits", {"limit": "memory"}))


def send(stream: IO[bytes], content: bytes) -> None:
    """Write a message. Raises OSError."""
    stream.write(len(content).to_bytes(8, "little"))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read a message; None at the end, or where the other side has ended within one."""
    if len(head := stream.read(8)) < 8:
        return None
    length = int.from_bytes(head, "little")
    content = stream.read(length)
    return content if len(content) == length else None
