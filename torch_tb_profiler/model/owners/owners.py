"""Attribute each piece of device work: by its launch, else by the same work of another iteration.

A program that annotates what it captures (`torch.cuda.graph_annotations.mark_kernels`) has its words written to every
replay of the node, under keys that it chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, one_of
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import Nesting, nearest
from torch_tb_profiler.arrays.types import Bool, Int32, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME, TRITON_LAUNCH, is_own_code
from torch_tb_profiler.model.launch_of_work import LaunchEvidence
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.model.owners.graphs import (
    CaptureMatch,
    ReplayedCalls,
    around_captures,
    around_replays,
    captured_calls,
    replays_of,
)
from torch_tb_profiler.model.owners.matched_iterations import match_iterations
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, TraceTable, column


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


def _named(trace: Trace, forest: CallTree | FrameTree, wanted: Callable[[str], object]) -> Bool:
    """Mark nodes whose name is wanted."""
    if not len(forest):
        return np.empty(0, np.bool_)
    return trace.strings.where(wanted, forest.name)[forest.name]


def _has_module_id(trace: Trace, frames: FrameTree) -> Bool:
    recorded = trace.python_frames
    found = np.zeros(len(trace.events), np.bool_)
    found[recorded.row[recorded.module_id >= 0]] = True
    return found[frames.row]


#: what names the module, the surest first; `name` is how torch keeps an annotation that is only a text
OWNER_KEYS = ("module_fqn", "fqn", "module", "name")


def annotated_owner(annotation: str) -> str | None:
    """Return what a text of `DeviceWork.annotation` names; None for nothing."""
    try:
        said: Any = msgspec.json.decode(annotation) if annotation.startswith("{") else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    return next((said[key] for key in OWNER_KEYS if isinstance(said.get(key), str) and said[key]), None)


class Owners(TraceTable):
    """Parallel to `Trace.device_work`. Annotations of devices and synchronization have none: NONE, and OWNED."""

    table_name: ClassVar[str] = "owners"
    how: UInt8 = column("OwnerKind", "see there")
    row: Int32 = column(
        "row, -1", "the operator, annotation or frame; of THREAD the API call; of ANNOTATED as without it"
    )
    evidence: Int32 = column(
        "row, -1",
        "the launch, else the operator; of GRAPH_NODE the captured call, unless it is one of several; of INFERRED the "
        "work it is like",
    )
    reason: UInt8 = column("MissingOwner", "why there is no owner")


def owners_of(trace: Trace, tree: CallTree, launch_links: LaunchLinks, links: DeviceLinks, calls: CallOwners) -> Owners:
    """Attribute all device work. `calls`: the owners of the launches."""
    work = trace.device_work
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    how, reason = np.zeros((2, len(work)), np.uint8)
    row, evidence = np.full((2, len(work)), -1, np.int32)
    launched = np.flatnonzero(links.launch >= 0)
    call = links.launch[launched]
    how[launched], row[launched], evidence[launched] = calls.how[call], calls.row[call], trace.launches.row[call]

    captured = _captured(trace, tree, launch_links, links, calls)
    nodes = np.flatnonzero(captured.call >= 0)
    how[nodes], row[nodes] = OwnerKind.GRAPH_NODE, calls.row[captured.call[nodes]]
    certain = nodes[captured.match[nodes] != CaptureMatch.AMBIGUOUS]
    evidence[certain] = trace.launches.row[captured.call[certain]]

    by_id = np.flatnonzero((links.launch < 0) & (links.operator_node >= 0))
    how[by_id], row[by_id] = OwnerKind.OPERATOR, tree.row[links.operator_node[by_id]]
    evidence[by_id] = row[by_id]

    open_ = is_work & (how == OwnerKind.NONE)
    reason[open_] = _why(trace, links)[open_]
    like = match_iterations(trace, links.launch, reason == MissingOwner.BEFORE_RECORDING, row)
    alike = np.flatnonzero(like >= 0)
    how[alike], row[alike], evidence[alike] = OwnerKind.INFERRED, row[like[alike]], work.row[like[alike]]
    reason[alike] = MissingOwner.OWNED

    annotated = (
        trace.strings.where(annotated_owner, work.annotation)[work.annotation] & is_work & (links.operator_node < 0)
    )
    how[annotated], reason[annotated] = OwnerKind.ANNOTATED, MissingOwner.OWNED
    return Owners(how, row, evidence, reason)


def _captured(
    trace: Trace, tree: CallTree, launch_links: LaunchLinks, links: DeviceLinks, calls: CallOwners
) -> ReplayedCalls:
    """Find the captured call of each node of a replay that no operator made."""
    captured, replays = captured_calls(trace, links), replays_of(trace, links)
    replayed = replays.calls_from(
        captured,
        captured.kernel,
        names_of(trace, calls, captured.call),
        around_replays(trace, tree, links, replays),
        around_captures(trace, tree, launch_links, captured),
    )
    # an operator around the replay comes first; a capture outside of everything says no more than the replay does
    replayed.call[links.operator_node >= 0] = -1
    replayed.call[take_known(calls.how, replayed.call, missing=0) == OwnerKind.THREAD] = -1
    return replayed


def names_of(trace: Trace, calls: CallOwners, call: Int32) -> Int32:
    """Return the name of the owner of some calls, a string code; -1 where only the thread is known."""
    known = calls.how[call] != OwnerKind.THREAD
    return np.where(known, trace.events.name[calls.row[call]], -1)


def _why(trace: Trace, links: DeviceLinks) -> UInt8:
    """Why a piece of work has no launch; of all, whether it has one or not."""
    work = trace.device_work
    if not len(trace.launches):
        return np.full(len(work), MissingOwner.HOST_NOT_RECORDED, np.uint8)
    reason = np.full(len(work), MissingOwner.BEFORE_RECORDING, np.uint8)
    if not len(work):
        return reason
    order = np.lexsort((trace.events.start[work.row], work.stream, work.device))
    launched = np.cumsum(links.launch[order] >= 0)
    first = begins_run(work.device[order], work.stream[order])
    before = np.maximum.accumulate(np.where(first, launched - (links.launch[order] >= 0), 0))
    # a stream is a queue: what runs behind work that was launched in the recording was launched after it
    reason[order[(launched > before) & (work.stream[order] >= 0)]] = MissingOwner.LAUNCH_LOST
    reason[(work.correlation <= 0) | (links.link == LaunchEvidence.FLOW_ONLY)] = MissingOwner.NO_CORRELATION
    reason[links.link == LaunchEvidence.AMBIGUOUS] = MissingOwner.AMBIGUOUS
    return reason
