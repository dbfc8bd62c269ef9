"""Log directories of small runs of several ranks, and what `ingest` makes of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.rank_programs import Ranks, events_of
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.trace.schema import TRACE_TABLES


def write_ranks(folder: Path, ranks: int = 4, steps: int = 3, world: int = 0) -> list[Path]:
    """Packed traces of ranks that go in step, eight to a host, named as torch names them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank, events in enumerate(events_of(Ranks(ranks=ranks, steps=steps))):
        document = {
            "schemaVersion": 1,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world or ranks},
            "host_name": f"node{rank // 8}",
            "traceEvents": events,
        }
        path = folder / f"node{rank // 8}_{rank}.pt.trace.json.gz"
        path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
        paths.append(path)
    return paths


def columns_of(folder: Path) -> dict[str, Any]:
    """All that the column files of a place hold, decoded: packed bytes may differ."""
    return {path.name: _decoded(path) for path in sorted(folder.glob("*.columns"))}


def _decoded(path: Path) -> Any:
    trace = column_file.open_trace(path)
    tables: Iterable[Any] = (trace.table(kind) for kind in TRACE_TABLES)
    named = [
        (t.table_name, {name: (values.dtype.str, values.tobytes()) for name, values in t.columns().items()})
        for t in tables
    ]
    return trace.header.raw, list(trace.strings), trace.tracks, named


def parts_in(folder: Path) -> list[str]:
    """What was begun and not ended."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]
