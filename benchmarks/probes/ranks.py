"""The reduction of many ranks: `python -m benchmarks.probes.ranks make FOLDER`, then `reduce FOLDER` in a new process.

`make` writes the summaries of 1,024 simulated ranks with 5,000 collectives each; `reduce` tells CPU seconds and memory.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import parse_kilobytes
from benchmarks.processes import read as status_of
from tests.rank_sims import Sim, simulated
from torch_tb_profiler.ranks.reduction import reduce_run
from torch_tb_profiler.ranks.summary import RankSummary, read_summary, write_summary

SIZE = Sim(tp=8, dp=128, steps=10, positions=500)


class _Files(Sequence[RankSummary]):
    """Each read when it is taken."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, at: int) -> RankSummary:  # type: ignore[override]
        return read_summary(self._paths[at])


def main(what: str, folder: Path) -> None:
    if what == "make":
        folder.mkdir(parents=True, exist_ok=True)
        for summary in simulated(SIZE):
            write_summary(summary, folder / f"{summary.head.rank:05}.rank")
        return
    before = time.process_time()
    found = reduce_run(_Files(sorted(folder.glob("*.rank"))))
    used = time.process_time() - before
    # of this program alone: ru_maxrss would also count what the process that started it held
    peak = parse_kilobytes(status_of(os.getpid(), "status"), "VmHWM") / (1 << 20)
    told = {"ranks": found.overview.tiles.present, "matched": found.overview.matched.matched}
    sys.stdout.write(json.dumps(told | {"cpu_s": round(used, 2), "peak_mb": round(peak)}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
