"""Names of schemas and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
_OTHER = re.compile(r"[^a-z0-9]+")
MAIN = "main"
#: of DuckDB, of this program, and words that cannot stand without quotes
_TAKEN = frozenset({"main", "temp", "system", "memory", "pg_catalog", "information_schema", "all", "default"})


def schemas_of(traces: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """The schema of each trace (run, worker, span); a single trace is in `main`."""
    return (MAIN,) if len(traces) == 1 else schema_names(traces)


def schema_names(traces: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """A name for each trace (run, worker, span) that needs no quotes: its worker's; with run, span and a number where
    that is not enough.

    >>> schema_names([("a", "rank-0", "1"), ("a", "rank-1", "1"), ("a", "1", "1")])
    ('rank_0', 'rank_1', 't1')
    """
    by_worker = [_plain(worker) for _, worker, _ in traces]
    longer = [_plain(f"{run}_{worker}_{span}") for run, worker, span in traces]
    names: list[str] = []
    for short, long in zip(by_worker, longer, strict=True):
        name = short if by_worker.count(short) == 1 and short not in _TAKEN else long
        count = 2
        while name in names or name in _TAKEN:
            name, count = f"{long}_{count}", count + 1
        names.append(name)
    return tuple(names)


def _plain(text: str) -> str:
    name = _OTHER.sub("_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"t{name}"


def split_name(name: str) -> list[str]:
    """The parts of a name as DuckDB writes it: `a.b`, `a."b.c"`.

    >>> split_name('a."b.c"')
    ['a', 'b.c']
    """
    return [match[1].replace('""', '"') if match[2] is None else match[2] for match in _PART.finditer(name)]


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names made distinct: later ones get a number.

    >>> distinct_names(["a", "a", "a_1", "b"])
    ('a', 'a_2', 'a_1', 'b')
    """
    found: list[str] = []
    for name in names:
        count, new = 1, name
        while new in found or (new != name and new in names):
            new, count = f"{name}_{count}", count + 1
        found.append(new)
    return tuple(found)
