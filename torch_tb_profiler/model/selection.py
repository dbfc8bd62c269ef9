"""The parts of a structure that belong to selected events: what they say stays, their positions are numbered anew."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from torch_tb_profiler.arrays.nesting import depths, nearest
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.forward_backward import ForwardBackward
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.model.structure import Structure


class Numbering:
    """Which rows of a table, or nodes of a tree, are selected, and their positions among these.

    kept    shape (selected,): their positions in the whole, ascending
    is_all  whether nothing was deselected, as is usual of operators: then all positions stay
    """

    def __init__(self, selected: Bool, parent: Int32 | None = None) -> None:
        """selected: of each row or node; parent: of the nodes of a tree."""
        self.kept: Int32 = np.flatnonzero(selected).astype(np.int32)
        self.is_all = len(self.kept) == len(selected)
        self._selected, self._parent = selected, parent
        # the last entry is for "none"
        self._number = np.full(len(selected) + 1, -1, np.int32)
        self._number[self.kept] = np.arange(len(self.kept), dtype=np.int32)

    def of(self, position: Int32) -> Int32:
        """Where positions in the whole (-1: none) are among those selected; -1 for what is not.

        In a tree a node that is not selected becomes the nearest one around it that is.
        """
        if self.is_all:
            return position
        if self._parent is not None:
            position = nearest(self._parent, self._selected, position)
        return self._number[position]


class Selection:
    """What `selected`, a mask over events, selects of a structure. The structure itself stays as it is."""

    def __init__(self, structure: Structure, selected: Bool) -> None:
        self._structure = structure
        self._selected = selected

    @cached_property
    def nodes(self) -> Numbering:
        """Of the call tree."""
        tree = self._structure.tree
        return Numbering(self._selected[tree.row], tree.parent)

    @cached_property
    def frames(self) -> Numbering:
        """Of the frame tree."""
        frames = self._structure.frames
        return Numbering(self._selected[frames.row], frames.parent)

    @cached_property
    def launches(self) -> Numbering:
        """Of `Trace.launches`."""
        return Numbering(self._selected[self._structure.trace.launches.row])

    @cached_property
    def work(self) -> Numbering:
        """Of `Trace.device_work`."""
        return Numbering(self._selected[self._structure.trace.device_work.row])

    def call_tree(self) -> CallTree:
        """The selected nodes. `operator` stays an index into `Trace.operators`."""
        tree = self._structure.tree
        if not self.nodes.is_all:
            tree = tree.take(self.nodes.kept)
            parent = self.nodes.of(tree.parent)
            tree = tree.with_columns(parent=parent, depth=depths(parent))
        return tree if self.frames.is_all else tree.with_columns(frame=self.frames.of(tree.frame))

    def frame_tree(self) -> FrameTree:
        """The selected frames."""
        if self.frames.is_all:
            return self._structure.frames
        frames = self._structure.frames.take(self.frames.kept)
        parent = self.frames.of(frames.parent)
        return frames.with_columns(parent=parent, depth=depths(parent))

    def launch_links(self) -> LaunchLinks:
        """Parallel to the selected launches."""
        if self.launches.is_all and self.nodes.is_all:
            return self._structure.launch_links
        links = self._structure.launch_links.take(self.launches.kept)
        # around an operator that is not selected nothing is: it began before the steps
        return links.with_columns(node=self.nodes.of(links.node), operator_node=self.nodes.of(links.operator_node))

    def device_links(self) -> DeviceLinks:
        """Parallel to the selected device work."""
        if self.work.is_all and self.launches.is_all and self.nodes.is_all:
            return self._structure.device_links
        links = self._structure.device_links.take(self.work.kept)
        return links.with_columns(
            launch=self.launches.of(links.launch),
            node=self.nodes.of(links.node),
            operator_node=self.nodes.of(links.operator_node),
        )

    def forward_backward(self) -> ForwardBackward:
        """The pairs of which both are selected."""
        pairs, rows = self._structure.forward_backward, self._structure.tree.row
        both = self._selected[rows[pairs.forward]] & self._selected[rows[pairs.backward]]
        return ForwardBackward(self.nodes.of(pairs.forward[both]), self.nodes.of(pairs.backward[both]))
