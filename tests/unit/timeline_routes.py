"""What tests of the routes of the timeline share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.served import everything_read
from tests.tiny import write_trace
from tests.tracegen import Config, write_run
from torch_tb_profiler.workspace import Workspace

OF_TRACE = "run=whole&worker=rank0&span=1"
KERNEL = "elementwise_kernel"


@contextmanager
def timelines_read(folder: Path) -> Iterator[Workspace]:
    """Over runs in the folder: `whole`, one without the timeline of its second rank, and one of a tiny trace."""
    logs = folder / "logs"
    write_run(Config(ranks=2, steps=2, layers=1, memory=True), logs / "whole")
    write_run(Config(ranks=2, steps=2, layers=1), logs / "broken")
    sorted((logs / "broken").iterdir())[1].write_bytes(b"")
    write_trace(logs / "alone" / "w.pt.trace.json")
    with everything_read(logs, folder / "cache") as workspace:
        yield workspace
