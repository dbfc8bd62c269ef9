"""The parts of a structure that belong to selected events: what they say stays, their positions are numbered anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.arrays.nesting import depths, nearest
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.forward_backward import ForwardBackward
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.model.structure import Structure


@dataclass(frozen=True)
class Numbering:
    """Which rows of a table or nodes of a tree are selected.

    kept    shape (selected,): their positions in the whole, ascending
    place   shape (whole + 1,): the position of each among `kept`, -1 for one that is not; the last entry, -1, is for
            "none". In a tree a node that is not selected has the place of the nearest selected one around it.
    """

    kept: Int32
    place: Int32

    @classmethod
    def of_rows(cls, selected: Bool) -> Numbering:
        """Of the rows of a table."""
        place = np.where(selected, np.cumsum(selected) - 1, -1)
        return cls(np.flatnonzero(selected).astype(np.int32), np.append(place, -1).astype(np.int32))

    @classmethod
    def of_nodes(cls, selected: Bool, parent: Int32) -> Numbering:
        """Of the nodes of a tree."""
        rows = cls.of_rows(selected)
        around = nearest(parent, selected, np.arange(len(parent), dtype=np.int32))
        return cls(rows.kept, rows.place[np.append(around, -1)])


class Selection:
    """What `selected`, a mask over events, selects of a structure. The structure itself stays as it is."""

    def __init__(self, structure: Structure, selected: Bool) -> None:
        trace = structure.trace
        self._structure = structure
        self.nodes = Numbering.of_nodes(selected[structure.tree.row], structure.tree.parent)
        self.frames = Numbering.of_nodes(selected[structure.frames.row], structure.frames.parent)
        self.launches = Numbering.of_rows(selected[trace.launches.row])
        self.work = Numbering.of_rows(selected[trace.device_work.row])

    def call_tree(self) -> CallTree:
        """The selected nodes. `operator` stays an index into `Trace.operators`."""
        tree = self._structure.tree.take(self.nodes.kept)
        parent = self.nodes.place[tree.parent]
        return replace(tree, parent=parent, depth=depths(parent), frame=self.frames.place[tree.frame])

    def frame_tree(self) -> FrameTree:
        """The selected frames."""
        frames = self._structure.frames.take(self.frames.kept)
        parent = self.frames.place[frames.parent]
        return replace(frames, parent=parent, depth=depths(parent))

    def launch_links(self) -> LaunchLinks:
        """Parallel to the selected launches."""
        links = self._structure.launch_links.take(self.launches.kept)
        # around an operator that is not selected nothing is: it began before the steps
        return replace(links, node=self.nodes.place[links.node], operator_node=self.nodes.place[links.operator_node])

    def device_links(self) -> DeviceLinks:
        """Parallel to the selected device work."""
        links = self._structure.device_links.take(self.work.kept)
        return replace(
            links,
            launch=self.launches.place[links.launch],
            node=self.nodes.place[links.node],
            operator_node=self.nodes.place[links.operator_node],
        )

    def forward_backward(self) -> ForwardBackward:
        """The pairs of which both are selected."""
        pairs = self._structure.forward_backward
        forward, backward = self.nodes.place[pairs.forward], self.nodes.place[pairs.backward]
        both = (forward >= 0) & (backward >= 0)
        return ForwardBackward(forward[both], backward[both])
