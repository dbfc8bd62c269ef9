"""What one rank costs a process that reads: python rank.py FILE...

CPU seconds of each file, read, summarized and written as `ingest` has it done, after a first one that is not counted.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from own import cpu, peak, say

from torch_tb_profiler.storage import storage_for
from torch_tb_profiler.workspace.protocol import Done, Job
from torch_tb_profiler.workspace.worker import perform


def main(files: list[str]) -> None:
    """Says `ranks`, CPU seconds, and `peak`, bytes."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate([files[0], *files]):
            target = Path(folder) / str(number)
            job = Job.of(number, storage_for(file).stat(file), target, rank=f"{target}.rank")
            began = cpu()
            assert isinstance(perform(job, lambda _: None), Done)
            seconds.append(cpu() - began)
    say(ranks=seconds[1:], peak=peak())


main(sys.argv[1:])
