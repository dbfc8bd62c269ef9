"""The Python frames around operators."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct, distinct_places
from torch_tb_profiler.arrays.nesting import by_depth
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.frame_names import SOURCE_FRAME
from torch_tb_profiler.trace import StringTable


class Stacks(msgspec.Struct, frozen=True):
    """Distinct call stacks; number 0 is the empty one, "not known". Whom a stack was called from stands before it.

    parent    shape (stacks,): the stack without its innermost frame, -1 when `frame` is a whole recorded stack
    frame     shape (stacks,): string code of the innermost frame
    """

    parent: Int32
    frame: Int32

    def texts(self, strings: StringTable, numbers: Int32) -> list[str]:
        """Each of the stacks as frames joined by a line break, innermost first."""
        known: dict[int, str] = {0: ""}
        return [self._text(strings, number, known) for number in numbers.tolist()]

    def _text(self, strings: StringTable, stack: int, known: dict[int, str]) -> str:
        found = known.get(stack)
        if found is not None:
            return found
        frames: list[str] = []
        at = stack
        while at > 0:
            frames.append(strings[int(self.frame[at])])
            at = int(self.parent[at])
        text = "\n".join(frames) if self.parent[stack] >= 0 else "\n".join(frames[0].split(";"))
        known[stack] = text
        return text

    def only(self, numbers: Int32) -> tuple[Stacks, Int32]:
        """Only these stacks and those they were called from, and what the numbers are then."""
        wanted = np.zeros(len(self.parent), np.bool_)
        wanted[0] = True
        todo = distinct(numbers)
        while len(todo):
            wanted[todo] = True
            above = self.parent[todo]
            todo = distinct(above[(above > 0) & ~wanted[above]])
        renumbered = np.cumsum(wanted, dtype=np.int32) - 1
        parent = self.parent[wanted]
        return Stacks(np.where(parent > 0, renumbered[parent], parent), self.frame[wanted]), renumbered[numbers]


class CallStacks(msgspec.Struct, frozen=True):
    """of_node: shape (call tree,), the number of the stack around each node."""

    of_node: Int32
    stacks: Stacks


@cached
def call_stacks(model: Model) -> CallStacks:
    """The stack of every node: `Call stack` of its operator when the trace has any, else the enclosing frames.

    torch writes `Call stack` only when asked to be verbose since 2.0; the Python functions recorded on the same
    thread enclose the operator in time and say the same.
    """
    recorded = model.trace.operators.call_stack
    return _recorded(model, recorded) if (recorded > 0).any() else _enclosing(model)


def _recorded(model: Model, recorded: Int32) -> CallStacks:
    codes = recorded[model.tree.operator]
    different, of_node = distinct_places(np.concatenate([np.zeros(1, codes.dtype), codes]))
    parent = np.full(len(different), -1, np.int32)
    return CallStacks(of_node[1:].astype(np.int32), Stacks(parent, different.astype(np.int32)))


def _enclosing(model: Model) -> CallStacks:
    """Level by level from the top: a stack is the stack of the caller and the name of the frame."""
    frames, strings = model.frames, model.trace.strings
    is_source = strings.where(SOURCE_FRAME.match, frames.name)[frames.name]
    of_frame = np.zeros(len(frames) + 1, np.int32)  # the last entry is for "no frame"
    parents, names = [np.full(1, -1, np.int32)], [np.zeros(1, np.int32)]
    stacks = 1
    for at_depth in by_depth(frames.depth):
        of_frame[at_depth] = of_frame[frames.parent[at_depth]]
        level = at_depth[is_source[at_depth]]
        pairs = of_frame[level].astype(np.int64) * len(strings) + frames.name[level]
        different, inverse = distinct_places(pairs)
        of_frame[level] = stacks + inverse
        parents.append((different // len(strings)).astype(np.int32))
        names.append((different % len(strings)).astype(np.int32))
        stacks += len(different)
    return CallStacks(of_frame[model.tree.frame], Stacks(np.concatenate(parents), np.concatenate(names)))
