"""Why memory ran out, what a snapshot holds, and what to change: `memory.toml`."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.reason import Value
from torch_tb_profiler.words.sentences import section, values_of


def memory_text(name: str, struct: msgspec.Struct, **more: Value) -> str:
    """Say what a section says of the fields of a struct. more: values that are no fields."""
    return section("memory", name).say("text", values_of(struct) | more)
