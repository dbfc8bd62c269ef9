"""Attribute each call of a device's API to what was running around it."""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.arrays.nesting import Nesting, nearest
from torch_tb_profiler.arrays.types import Bool, Int32, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME, TRITON_LAUNCH, is_own_code
from torch_tb_profiler.model.launches import LaunchLinks
from torch_tb_profiler.trace import Trace


class OwnerKind(IntEnum):
    """The first of these that applies, from OPERATOR on."""

    NONE = 0
    OPERATOR = 1  # the innermost operator around its launch
    COMPILED = 2  # a compiled region around the launch, or what calls the code that launches a Triton kernel
    GRAPH_NODE = 3  # what captured the node of the graph that was replayed
    ANNOTATION = 4  # the innermost record_function range around the launch, such as Optimizer.step
    MODULE = 5  # the innermost nn.Module call around the launch
    FRAME = 6  # the innermost Python frame of the program around the launch
    THREAD = 7  # the thread that made the call: nothing was running on it
    INFERRED = 8  # what owns its like in the recording; its launch is not in it
    ANNOTATED = 9  # what the program wrote to the node of the graph; comes before GRAPH_NODE


class MissingOwner(IntEnum):
    """Why device work has no owner."""

    OWNED = 0
    HOST_NOT_RECORDED = 1  # the trace has no API calls at all
    BEFORE_RECORDING = 2  # launched before the recording, and like nothing in it
    NO_CORRELATION = 3  # the event does not say which call started it
    LAUNCH_LOST = 4  # an earlier piece of work of its stream was launched in the recording, so it was, too
    AMBIGUOUS = 5  # several calls may have started it


#: annotations around compiled code, as torch.compile names them
COMPILED_REGION = lazy_pattern(r"Torch-Compiled Region|## Call CompiledFxGraph |graph_\d+_inductor_wrapper_call")
#: the same, and the functions of autograd that call compiled code
COMPILED_CODE = lazy_pattern(rf"{COMPILED_REGION.pattern}|CompiledFunction(?:Backward)?\b|Torch-Compiled")

#: a step is no owner as long as anything else is known: everything that a program does is in one
_STEP = lazy_pattern(r"ProfilerStep#\d+")


class CallOwners(msgspec.Struct, frozen=True):
    """Parallel to `Trace.launches`.

    how   OwnerKind, OPERATOR to THREAD without GRAPH_NODE
    row   the event of the operator, annotation or frame; of THREAD the call itself
    """

    how: UInt8
    row: Int32


def owners_of_calls(
    trace: Trace, tree: CallTree, links: LaunchLinks, frames: FrameTree, nesting: Nesting
) -> CallOwners:
    """`nesting`: of the frames."""
    rows = trace.launches.row
    how = np.full(len(rows), OwnerKind.THREAD, np.uint8)
    row = rows.copy()
    operated = np.flatnonzero(links.operator_node >= 0)
    how[operated], row[operated] = OwnerKind.OPERATOR, tree.row[links.operator_node[operated]]
    left = np.flatnonzero(links.operator_node < 0)
    if not len(left):
        return CallOwners(how, row)
    node = links.node[left]
    frame = nesting.innermost(trace.events.track[rows[left]], trace.events.start[rows[left]])
    is_step = _named(trace, tree, _STEP.fullmatch)
    module_frames = _named(trace, frames, lambda text: text.startswith(NN_MODULE)) | _has_module_id(trace, frames)
    triton = nearest(frames.parent, _named(trace, frames, TRITON_LAUNCH.search), frame)
    # the last choice first: each is overwritten by better ones
    choices = (
        (OwnerKind.ANNOTATION, tree, node),
        (OwnerKind.FRAME, frames, frame),
        (OwnerKind.FRAME, frames, nearest(frames.parent, _named(trace, frames, SOURCE_FRAME.match), frame)),
        (OwnerKind.FRAME, frames, nearest(frames.parent, _named(trace, frames, is_own_code), frame)),
        (OwnerKind.MODULE, frames, nearest(frames.parent, module_frames, frame)),
        (OwnerKind.ANNOTATION, tree, nearest(tree.parent, ~is_step, node)),
        (OwnerKind.COMPILED, frames, triton),
        (OwnerKind.COMPILED, frames, nearest(frames.parent, _named(trace, frames, is_own_code), triton)),
        (OwnerKind.COMPILED, tree, nearest(tree.parent, _named(trace, tree, COMPILED_REGION.match), node)),
    )
    for chosen, forest, position in choices:
        found = np.flatnonzero(position >= 0)
        how[left[found]], row[left[found]] = chosen, forest.row[position[found]]
    return CallOwners(how, row)


def _named(trace: Trace, forest: CallTree | FrameTree, wanted: object) -> Bool:
    """Mark nodes whose name is wanted."""
    if not len(forest):
        return np.empty(0, np.bool_)
    return trace.strings.where(wanted, forest.name)[forest.name]  # type: ignore[arg-type]


def _has_module_id(trace: Trace, frames: FrameTree) -> Bool:
    recorded = trace.python_frames
    found = np.zeros(len(trace.events), np.bool_)
    found[recorded.row[recorded.module_id >= 0]] = True
    return found[frames.row]
