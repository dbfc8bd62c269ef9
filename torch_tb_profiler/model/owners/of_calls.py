"""Whom a call of a device's API belongs to: what was running around it."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.nesting import Nesting, nearest
from torch_tb_profiler.arrays.types import Bool, Int32, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.frame_names import NN_MODULE, SOURCE_FRAME, TRITON_LAUNCH, is_own_code
from torch_tb_profiler.model.launches import LaunchLinks
from torch_tb_profiler.model.owners.kinds import How
from torch_tb_profiler.trace import Trace

#: annotations around compiled code, as torch.compile names them
COMPILED_REGION = lazy_pattern(r"Torch-Compiled Region|## Call CompiledFxGraph |graph_\d+_inductor_wrapper_call")
#: the same, and the functions of autograd that call compiled code
COMPILED_CODE = lazy_pattern(rf"{COMPILED_REGION.pattern}|CompiledFunction(?:Backward)?\b|Torch-Compiled")

#: a step is no owner as long as anything else is known: everything that a program does is in one
_STEP = lazy_pattern(r"ProfilerStep#\d+")


class CallOwners(msgspec.Struct, frozen=True):
    """Parallel to `Trace.launches`.

    how   How, OPERATOR to THREAD without GRAPH_NODE
    row   the event of the operator, annotation or frame; of THREAD the call itself
    """

    how: UInt8
    row: Int32


def owners_of_calls(
    trace: Trace, tree: CallTree, links: LaunchLinks, frames: FrameTree, nesting: Nesting
) -> CallOwners:
    """`nesting`: of the frames."""
    rows = trace.launches.row
    how = np.full(len(rows), How.THREAD, np.uint8)
    row = rows.copy()
    operated = np.flatnonzero(links.operator_node >= 0)
    how[operated], row[operated] = How.OPERATOR, tree.row[links.operator_node[operated]]
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
        (How.ANNOTATION, tree, node),
        (How.FRAME, frames, frame),
        (How.FRAME, frames, nearest(frames.parent, _named(trace, frames, SOURCE_FRAME.match), frame)),
        (How.FRAME, frames, nearest(frames.parent, _named(trace, frames, is_own_code), frame)),
        (How.MODULE, frames, nearest(frames.parent, module_frames, frame)),
        (How.ANNOTATION, tree, nearest(tree.parent, ~is_step, node)),
        (How.COMPILED, frames, triton),
        (How.COMPILED, frames, nearest(frames.parent, _named(trace, frames, is_own_code), triton)),
        (How.COMPILED, tree, nearest(tree.parent, _named(trace, tree, COMPILED_REGION.match), node)),
    )
    for chosen, forest, position in choices:
        found = np.flatnonzero(position >= 0)
        how[left[found]], row[left[found]] = chosen, forest.row[position[found]]
    return CallOwners(how, row)


def _named(trace: Trace, forest: CallTree | FrameTree, wanted: object) -> Bool:
    """Which nodes have a name that is wanted."""
    if not len(forest):
        return np.empty(0, np.bool_)
    return trace.strings.where(wanted, forest.name)[forest.name]  # type: ignore[arg-type]


def _has_module_id(trace: Trace, frames: FrameTree) -> Bool:
    recorded = trace.python_frames
    found = np.zeros(len(trace.events), np.bool_)
    found[recorded.row[recorded.module_id >= 0]] = True
    return found[frames.row]
