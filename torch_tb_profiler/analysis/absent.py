"""Which traces are not in an answer about several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from torch_tb_profiler.analysis.question import RunSubject
from torch_tb_profiler.trace import Note, note

Where = Literal["span", "trends", "table", "snapshots"]
#: of files in a sentence
MOST_NAMES = 4


def absent_traces(view: str, where: Where, loading: Sequence[str], failed: Sequence[str]) -> Iterator[Note]:
    """What the answer of a view says of files that are still being read, and of those that could not be read.

    where   they are missing
    """
    if loading:
        yield note("traces_loading", "info", len(loading), (view,), values={"files": first_of(loading), "where": where})
    if failed:
        yield note("traces_failed", "error", len(failed), (view,), values={"files": first_of(failed), "where": where})


def first_of(files: Sequence[str]) -> str:
    """Names of files, as a sentence lists them.

    >>> first_of(["a", "b", "c", "d", "e"])
    'a, b, c, d …'
    """
    return ", ".join(files[:MOST_NAMES]) + (" …" if len(files) > MOST_NAMES else "")


def absent_of_span(view: str, subject: RunSubject[Any]) -> list[Note]:
    """The same of an answer about the ranks of a run."""
    return list(absent_traces(view, "span", subject.loading, subject.failed))
