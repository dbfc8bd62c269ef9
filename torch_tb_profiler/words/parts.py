"""What the parts of a step are called: `parts.toml`, which the page reads, too."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.words.files import file


def part_name(cause: str) -> str:
    """Return a part of a step by its id, for people.

    >>> part_name("compute.gemm"), part_name("compute.kv_cache"), part_name("host.data")
    ('Computing: matrix products', 'Computing: kv cache', 'Data loading')
    """
    names, kinds = file("parts")["names"], file("parts")["kinds"]
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
