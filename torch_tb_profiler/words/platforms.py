"""What is written for CUDA, and what is meant on other devices: `platforms.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from torch_tb_profiler.words.files import file

Pairs = Sequence[tuple[str, str]]


@cache
def clauses(platform: str) -> Pairs:
    """Clauses of sentences: what is written, and what is meant; longer ones before what is in them."""
    tables = file("platforms")
    return [pair for group in tables["groups"].get(platform, ()) for pair in tables["clauses"][group].items()]


def names(platform: str) -> Pairs:
    """Return the same of names in code and of programs, for all languages."""
    return tuple(file("platforms")["names"].get(platform, {}).items())
