"""Which annotation of the program held at a time: `record_function`, `ProfilerStep#3`, `Optimizer.step#Adam.step`."""

from __future__ import annotations

import heapq

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Annotations


class Held(msgspec.Struct, frozen=True):
    """The annotation that was begun last and had not ended, between times: parallel, by time.

    since  ns since the start of the recording
    code   in `names`, -1 for none
    """

    since: Int64
    code: Int64
    names: tuple[str, ...]

    def at(self, time: Int64) -> Int64:
        """Codes at some times."""
        place = np.searchsorted(self.since, time, "right") - 1
        return np.where(place >= 0, self.code[np.maximum(place, 0)], -1) if len(self.since) else np.full(len(time), -1)


@cached
def held(model: Model) -> Held:
    """Of all threads of the process together: the file does not say whose an annotation is.

    One that had not ended when the snapshot was dumped holds until then; one without a beginning does not count.
    """
    table = model.trace.table(Annotations)
    texts = model.trace.strings.texts(table.name)
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    never = np.iinfo(np.int64).max
    open_: list[tuple[int, int]] = []  # negative place in `begins`, end
    begins = [row for row in np.argsort(table.start, kind="stable").tolist() if table.start[row] != NO_TIME]
    starts, ends = table.start.tolist(), np.where(table.end == NO_TIME, never, table.end).tolist()
    since: list[int] = []
    code: list[int] = []

    def now(time: int) -> None:
        while open_ and open_[0][1] <= time:
            heapq.heappop(open_)
        current = codes[texts[begins[-open_[0][0]]]] if open_ else -1
        if since and since[-1] == time:
            code[-1] = current
        else:
            since.append(time)
            code.append(current)

    times = sorted({*(starts[row] for row in begins), *(ends[row] for row in begins)} - {never})
    place = 0
    for time in times:
        while place < len(begins) and starts[begins[place]] <= time:
            heapq.heappush(open_, (-place, ends[begins[place]]))
            place += 1
        now(time)
    return Held(np.array(since, np.int64), np.array(code, np.int64), tuple(codes))
