"""Events, chunk by chunk → rows of the tables, row group by row group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.trace.arguments import Columns
from torch_tb_profiler.trace.events import Event
from torch_tb_profiler.trace.gather import HEADS, SECOND, TABLES, Gathered, Gatherer, Numbering
from torch_tb_profiler.trace.notes import Notes, note
from torch_tb_profiler.trace.schema import Category, Chunks, CounterValues, DeviceWork, Events, Flows
from torch_tb_profiler.trace.store import Header
from torch_tb_profiler.trace.table_writer import TableWriter, TraceInfo

#: events that are gathered before their rows are written: a step of numpy costs the same for few values as for many
ROW_GROUP = 1 << 17
#: chunks that one process decodes at once; row groups end where a batch ends, whoever has decoded it
BATCH_CHUNKS = 4
#: ids of arrows between nodes of a graph begin here, far beyond any correlation
FIRST_GRAPH_ARROW = 1 << 40


class Collector(Gatherer):
    """Takes the events of a file in order and writes their rows to a writer, a row group at a time.

    chunks_taken: so far
    """

    def __init__(self, writer: TableWriter) -> None:
        super().__init__()
        self.chunks_taken = 0
        self._writer = writer
        self._written = 0

    def add(self, events: list[Event], offset: int, length: int, text: Callable[[], bytes]) -> None:
        super().add(events, offset, length, text)
        self._took(1)

    def put_chunks(self, chunks: int, gathered: Gathered, numbering: Numbering) -> None:
        """`put` what so many chunks hold, all of one batch."""
        self.put(gathered, numbering)
        self._took(chunks)

    def _took(self, chunks: int) -> None:
        self.chunks_taken += chunks
        if self.count - self._written >= ROW_GROUP and self.chunks_taken % BATCH_CHUNKS == 0:
            self._write()

    # writing, row group by row group ------------------------------------------------------------------------

    def _write(self) -> None:
        """Hand what was gathered to the writer: memory stays the same however long the file is."""
        first_row, self._written = self._written, self.count
        heads = np.frombuffer(b"".join(self._heads), dtype=HEADS)
        self._heads.clear()
        phase, category = heads["phase"].copy(), heads["category"].copy()
        flow_ids = np.frombuffer(b"".join(self._flow_ids), np.int64)
        self._flow_ids.clear()
        _tell_graph_arrows(category, flow_ids)
        start, duration = self._times.take(phase, category)
        self._writer.add(
            Events,
            {
                "phase": phase,
                "category": category,
                "name": heads["name"],
                "track": heads["track"],
                "start": start,
                "duration": duration,
            },
        )
        chunks = np.array(self._chunks, dtype=np.int64).reshape(-1, 3)
        self._chunks.clear()
        self._writer.add(Chunks, {"offset": chunks[:, 0], "length": chunks[:, 1], "first_row": chunks[:, 2]})
        if self._counters:
            row, series, value = zip(*self._counters, strict=True)
            self._counters.clear()
            columns = {"row": np.array(row), "series": np.array(series), "value": np.array(value, np.float64)}
            self._writer.add(CounterValues, columns)
        tables = heads["table"].copy()
        for number, kind in enumerate(TABLES):
            rows = np.flatnonzero(tables == number)
            if kind and len(rows):
                columns = {"id": flow_ids} if kind is Flows else self._arguments[kind].take()
                if kind is DeviceWork:
                    self._complete_work(columns, heads["track"][rows])
                self._writer.add(kind, {"row": rows + first_row, **columns})
        for (second, _, _), arguments, numbers in zip(SECOND, self._second, self._second_rows, strict=True):
            if not numbers:
                continue
            columns = arguments.take()
            columns["row"] = np.array(numbers)
            numbers.clear()
            # those of several tables, chunk by chunk
            order = np.argsort(columns["row"], kind="stable")
            self._writer.add(second, {name: values[order] for name, values in columns.items()})

    def _complete_work(self, columns: Columns, track: Int32) -> None:
        """What follows from the track and from other columns of device work."""
        device = columns["device"]
        columns["device"] = np.where(device < 0, self._tracks.devices()[track], device)
        # Kineto may write the graph's id in the upper half of a node's
        node = columns["graph_node_id"]
        graph = node >> 32
        columns["graph_id"] = np.where((columns["graph_id"] < 0) & (graph > 0), graph, columns["graph_id"])
        columns["graph_node_id"] = np.where(node < 0, node, node & 0xFFFFFFFF)

    # the end ------------------------------------------------------------------------------------------------

    def finish(self, header: Header, notes: Notes, text_bytes: int) -> TraceInfo:
        """Write the rest, and say what the trace is."""
        if self.count > self._written:
            self._write()
        for each in self._times.notes():
            notes.add(each)
        impossible = sum(arguments.impossible for arguments in self._arguments.values())
        if impossible:
            notes.add(note("impossible_numbers", "warning", impossible, ("kernels",)))
        first = self._times.first_ns or 0
        origin = (self._times.origin_us or 0) * 1000 + first + (header.base_time_ns or 0)
        return TraceInfo(header, self._strings.texts, self._tracks.all(), origin, first, tuple(notes), text_bytes)


def _tell_graph_arrows(category: UInt8, flow_ids: Int64) -> None:
    """Arrows between nodes of a graph are written as those from launches are, with ids of their own range.

    flow_ids: of the events that have one, in their order
    """
    if flow_ids.max(initial=0) >= FIRST_GRAPH_ARROW:
        flows = np.flatnonzero(np.isin(category, Flows.categories))
        between_nodes = (flow_ids >= FIRST_GRAPH_ARROW) & (category[flows] == Category.FLOW_LAUNCH)
        category[flows[between_nodes]] = Category.FLOW_GRAPH
