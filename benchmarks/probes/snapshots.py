"""Memory snapshots in a fresh interpreter.

python snapshots.py make FILE RECORDS   write a snapshot: about 140 bytes a record, stacks of depth 40
python snapshots.py read FILE           its columns, in a process of its own as the server does it
python snapshots.py ask FILE            from the columns: the first picture, a zoom, what is alive, the map
"""

from __future__ import annotations

import gc
import pickle
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from own import cpu, peak, say

from torch_tb_profiler.analysis.snapshot.alive import alive_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import histories
from torch_tb_profiler.analysis.snapshot.layout import segment_layout
from torch_tb_profiler.analysis.snapshot.timeline import columns_of, drawing
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Limits, Trace
from torch_tb_profiler.workspace.reading.child_processes import read_snapshot

SLOTS, BYTES, BASE = 320, 1 << 21, 1 << 40
REPETITIONS = 3


def make(path: Path, records: int) -> None:
    """Steps that fill the slots of one segment and empty them again, but for the last."""
    gc.disable()
    internal = [{"name": f"at::native::fn_{i}(c10::SymInt)", "filename": "??", "line": 0} for i in range(20)]
    callers = [{"name": f"_call_impl_{i}", "filename": "torch/nn/modules/module.py", "line": i} for i in range(18)]
    lines = [{"name": f"layer{i}", "filename": "/app/model.py", "line": 10 + i} for i in range(SLOTS)]
    main_frame = {"name": "main", "filename": "/m.py", "line": 1}
    found: list[dict[str, Any]] = []

    def record(action: str, slot: int) -> None:
        found.append(
            {
                "action": action,
                "addr": BASE + slot * BYTES,
                "size": BYTES - 4,
                "stream": 0,
                "time_us": 1_790_000_000_000_000 + 9 * len(found),
                "compile_context": "N/A",
                "user_metadata": "",
                "frames": [*internal, lines[slot], main_frame, *callers],
            }
        )

    size = SLOTS * BYTES
    found.append({"action": "segment_alloc", "addr": BASE, "size": size, "stream": 0, "time_us": 0, "frames": []})
    while len(found) < records:
        for slot in range(SLOTS):
            record("alloc", slot)
        for slot in reversed(range(SLOTS)):
            record("free_requested", slot)
            record("free_completed", slot)
    block = {"address": BASE, "size": size, "requested_size": 0, "state": "inactive", "frames": []}
    sizes = {"total_size": size, "allocated_size": 0, "active_size": 0, "requested_size": 0}
    segment = {"device": 0, "address": BASE, **sizes, "stream": 0, "segment_type": "large", "blocks": [block]}
    with path.open("wb") as out:
        pickle.dump({"segments": [segment], "device_traces": [found]}, out, 4)


def read(path: Path) -> Trace:
    folder = Path(tempfile.mkdtemp())
    with path.open("rb") as stream:
        return read_snapshot(stream, path.stat().st_size, folder / "columns", lambda _: None, Limits())


def least(what: Callable[[], object]) -> float:
    """CPU seconds, of several times the least."""
    times = []
    for _ in range(REPETITIONS):
        before = cpu()
        what()
        times.append(cpu() - before)
    return min(times)


def ask(trace: Trace) -> None:
    model = Model(trace)
    before = cpu()
    (history,) = histories(model)
    names = stack_names(model)
    first = columns_of(history, "time", None, None, 1000)
    drawing(history, names, first, "line")
    picture = cpu() - before
    last = int(history.device.records.time[-1])

    def zoom() -> None:
        window = columns_of(history, "time", last // 2, last // 2 + last // 100, 1000)
        drawing(history, names, window, "line")

    middle = history.last // 2
    say(
        records=len(history.device.records),
        picture=picture,
        zoom=least(zoom),
        alive=least(partial(alive_rows, history, names, middle, "stack")),
        map=least(partial(segment_layout, history, middle)),
    )


def main() -> None:
    mode, path = sys.argv[1], Path(sys.argv[2])
    if mode == "make":
        make(path, int(sys.argv[3]))
    elif mode == "read":
        read(path)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        say(cpu=used.ru_utime + used.ru_stime, memory=used.ru_maxrss * 1024, parent=peak())
    else:
        ask(read(path))


if __name__ == "__main__":
    main()
