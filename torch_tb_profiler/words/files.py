"""The files of words as they are written; names of the parts of a step, and words of other platforms than CUDA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from torch_tb_profiler.toml_text import toml_of


@cache
def words_file(area: str) -> Mapping[str, Any]:
    """Read all sections of an English file. area: its path below the language, without its suffix."""
    return toml_of((Path(__file__).parent / "en" / f"{area}.toml").read_text("utf-8"))


def part_name(cause: str) -> str:
    """Return a part of a step by its id, for people.

    >>> part_name("compute.gemm"), part_name("compute.kv_cache"), part_name("host.data")
    ('Computing: matmuls', 'Computing: kv cache', 'Data loading')
    """
    names, kinds = words_file("parts")["names"], words_file("parts")["kinds"]
    group, _, kind = cause.partition(".")
    if group == "compute" and kind:
        return f"{names[group]}: {kinds.get(kind, kind.replace('_', ' '))}"
    return by_end(cause, names) or cause


def by_end(cause: str, table: Mapping[str, str]) -> str | None:
    """Look up the longest known end of an id such as `idle.host.operator`, else what stands before it."""
    words = cause.split(".")
    for end in range(len(words), 0, -1):
        for begin in range(end):
            found = table.get(".".join(words[begin:end]))
            if found is not None:
                return found
    return None


Pairs = Sequence[tuple[str, str]]


@cache
def platform_clauses(platform: str) -> Pairs:
    """Clauses of sentences: what is written, and what is meant; longer ones before what is in them."""
    tables = words_file("platforms")
    return [pair for group in tables["groups"].get(platform, ()) for pair in tables["clauses"][group].items()]


def platform_names(platform: str) -> Pairs:
    """Return the same of names in code and of programs, for all languages."""
    return tuple(words_file("platforms")["names"].get(platform, {}).items())
