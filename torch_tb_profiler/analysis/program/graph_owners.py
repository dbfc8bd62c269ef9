"""Owners of the nodes of graphs that another recording captured.

Graphs are captured before the loop that is recorded, so the trace of a replay seldom has their capture. Engines such as
vLLM record it apart; then the two are read together.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, UInt8
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners import OwnerKind
from torch_tb_profiler.model.owners.certificate import names_agree
from torch_tb_profiler.model.owners.graphs import (
    CaptureMatch,
    around_captures,
    around_replays,
    captured_calls,
    replays_of,
)
from torch_tb_profiler.model.owners.owners import names_of
from torch_tb_profiler.trace import StringTable


class GraphOwners(msgspec.Struct, frozen=True):
    """Owners of nodes by the trace of their capture; parallel arrays in the order of `Trace.device_work`.

    work     shape (nodes,): index into `Trace.device_work` of the trace with the replays
    call     shape (nodes,): row of the captured call in the trace with the capture; -1 of AMBIGUOUS
    match    shape (nodes,): CaptureMatch, how it is known
    row      shape (nodes,): row of what owns that call, there; of AMBIGUOUS one of several with this name
    how      shape (nodes,): OwnerKind, of that call
    name     shape (nodes,): name of what owns it, a code of `strings`
    strings  of the trace with the capture
    nodes    how many pieces of device work graphs replayed, those without an owner among them
    """

    work: Int32
    call: Int32
    match: UInt8
    row: Int32
    how: UInt8
    name: Int32
    strings: StringTable
    nodes: int

    def __len__(self) -> int:
        return len(self.work)

    def names(self) -> list[str]:
        """Return the operators, annotations or frames that own the nodes."""
        return self.strings.texts(self.name)


def graph_owners(model: Model, capture: Model) -> GraphOwners:
    """Find the owners of what `model` replays in the trace in which it was captured.

    A capture fits a graph if it has the same kernels in the same order; without names, as CUDA writes it, the same
    number of kernels, copies and fills in the same order, with operators whose names agree with the kernels. Work of
    replays that no capture fits is left out.
    """
    replayed, recorded = model.structure, capture.structure
    trace, captured_in = replayed.trace, recorded.trace
    replays = replays_of(trace, replayed.device_links)
    captured = captured_calls(captured_in, recorded.device_links)
    calls = recorded.call_owners

    def agree(owner: Int32, kernel: Int32) -> bool:
        owners = ["" if code < 0 else captured_in.strings[code] for code in owner.tolist()]
        return names_agree(owners, trace.strings.texts(kernel))

    matched = replays.calls_from(
        captured,
        _translated(captured.kernel, captured_in.strings, trace.strings),
        names_of(captured_in, calls, captured.call),
        around_replays(trace, replayed.tree, replayed.device_links, replays),
        around_captures(captured_in, recorded.tree, recorded.launch_links, captured),
        agree,
    )
    call = matched.call
    known = np.flatnonzero(take_known(calls.how, call, missing=OwnerKind.THREAD) != OwnerKind.THREAD)
    call = call[known]
    match = matched.match[known]
    row = calls.row[call]
    return GraphOwners(
        work=known.astype(np.int32),
        call=np.where(match == CaptureMatch.AMBIGUOUS, -1, captured_in.launches.row[call]).astype(np.int32),
        match=match,
        row=row,
        how=calls.how[call],
        name=captured_in.events.name[row],
        strings=captured_in.strings,
        nodes=len(replays.work),
    )


def _translated(codes: Int32, strings: StringTable, into: StringTable) -> Int32:
    """Return the codes of the same texts in another trace; -1 for missing ones."""
    used, place = distinct_places(codes)
    return np.array([into.code(text) for text in strings.texts(used)], np.int32)[place]
