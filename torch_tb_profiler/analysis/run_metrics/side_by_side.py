"""Any number of traces in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.arrays.types import Float64


class TracesByName(Result, group="traces_by_name"):
    """A row for each name; those in which the traces are furthest apart first."""

    name: Sequence[str] = column("Name", "Name of the operator or kernel.")
    spread: Float64 = column(
        "Spread",
        "The largest of the numbers in this row − the smallest; a trace without it counts as 0.",
        unit="ns",
    )
    cells: Float64 = fact("shape (names, traces); NaN where a trace does not have the name")

    def with_traces(self, titles: Sequence[str], measured: Definition) -> tuple[list[Definition], dict[str, Any]]:
        """Columns and their values, with a column `t0`, `t1`, … for each trace; where to look stands before these."""
        traces = [
            replace(measured, key=f"t{at}", label=title, id=f"help {measured.id}") for at, title in enumerate(titles)
        ]
        cells = {f"t{at}": np.ma.masked_invalid(self.cells[:, at]) for at in range(len(titles))}
        spread = replace(self.columns["spread"], unit=measured.unit)
        return [self.columns["name"], spread, *traces], self.to_columns() | cells


def side_by_side(sums: Sequence[dict[str, float]]) -> TracesByName:
    """sums: of each trace by name."""
    names = list(dict.fromkeys(name for found in sums for name in found))
    cells = np.array([[found.get(name, np.nan) for found in sums] for name in names]).reshape(len(names), len(sums))
    counted = np.nan_to_num(cells)
    spread = counted.max(axis=1, initial=0) - counted.min(axis=1, initial=np.inf) if sums else np.empty(0)
    order = np.lexsort((-counted.sum(axis=1), -spread))
    return TracesByName(name=[names[row] for row in order.tolist()], spread=spread[order], cells=cells[order])


def titles_of(traces: Sequence[tuple[str, str, str]]) -> list[str]:
    """Run, worker and span of each, without what is the same in all of them where something differs."""
    differing = [at for at in range(3) if len({trace[at] for trace in traces}) > 1] or [0]
    short = [" · ".join(trace[at] for at in differing) for trace in traces]
    return short if len(set(short)) == len(short) else [" · ".join(trace) for trace in traces]
