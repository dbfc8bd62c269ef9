"""Which traces are not in an answer about several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torch_tb_profiler.analysis.question import RunSubject
from torch_tb_profiler.trace import Note, Severity

#: of files in a sentence
MOST_NAMES = 4


def absent_traces(
    view: str, loading: Sequence[str], failed: Sequence[str], while_loading: str, when_failed: str
) -> Iterator[Note]:
    """What the answer of a view says of files that are still being read, and of those that could not be read.

    while_loading, when_failed: the beginning of the sentence that lists the files
    """
    kinds: tuple[tuple[str, Severity, str, Sequence[str]], ...] = (
        ("traces_loading", "info", while_loading, loading),
        ("traces_failed", "error", when_failed, failed),
    )
    for kind, severity, text, files in kinds:
        if files:
            listed = first_of(files)
            yield Note(kind, severity, f"{text}: {listed}.", len(files), (view,), values={"files": listed})


def first_of(files: Sequence[str]) -> str:
    """Names of files, as a sentence lists them.

    >>> first_of(["a", "b", "c", "d", "e"])
    'a, b, c, d …'
    """
    return ", ".join(files[:MOST_NAMES]) + (" …" if len(files) > MOST_NAMES else "")


def absent_of_span(view: str, subject: RunSubject[Any]) -> list[Note]:
    """The same of an answer about the ranks of a run."""
    found = absent_traces(
        view,
        loading=subject.loading,
        failed=subject.failed,
        while_loading="Traces of this span are still being read and not in these numbers",
        when_failed="Traces of this span could not be read and are not in these numbers",
    )
    return list(found)
