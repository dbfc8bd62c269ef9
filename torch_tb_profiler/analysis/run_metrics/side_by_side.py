"""Any number of traces in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.run_metrics.columns import TRACES_BY_NAME


def side_by_side(
    titles: Sequence[str], sums: Sequence[dict[str, float]], measured: Definition
) -> tuple[list[Definition], dict[str, Any]]:
    """A row for each name: how far the traces are apart, the most first, and a column `t0`, `t1`, … for each trace.

    A trace that does not have a name has no number there.
    """
    names = list(dict.fromkeys(name for found in sums for name in found))
    cells = np.array([[found.get(name, np.nan) for found in sums] for name in names]).reshape(len(names), len(sums))
    counted = np.nan_to_num(cells)
    spread = counted.max(axis=1, initial=0) - counted.min(axis=1, initial=np.inf) if sums else np.empty(0)
    order = np.lexsort((-counted.sum(axis=1), -spread))
    spreads = TRACES_BY_NAME["spread"]
    defined = [
        TRACES_BY_NAME["name"],
        # where to look stands before the traces
        replace(spreads, unit=measured.unit),
        *(replace(measured, key=f"t{at}", label=title, id=f"help {measured.id}") for at, title in enumerate(titles)),
    ]
    cells = cells[order]
    values: dict[str, Any] = {"name": [names[row] for row in order.tolist()], "spread": spread[order]}
    for at in range(len(titles)):
        values[f"t{at}"] = np.ma.masked_invalid(cells[:, at])
    return defined, values


def titles_of(traces: Sequence[tuple[str, str, str]]) -> list[str]:
    """Run, worker and span of each, without what is the same in all of them where something differs."""
    differing = [at for at in range(3) if len({trace[at] for trace in traces}) > 1] or [0]
    short = [" · ".join(trace[at] for at in differing) for trace in traces]
    return short if len(set(short)) == len(short) else [" · ".join(trace) for trace in traces]
