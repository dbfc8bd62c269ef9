"""Where in the program events come from: operator, line of the user's own code, module, annotation."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.rule import Where
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.frame_names import NN_MODULE, is_own_code
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.model.modules import LIGHTNING_MODULE, module_name
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

_FRAME = late_pattern(r"(?P<file>.*)\((?P<line>\d{1,9})\): (?P<function>.*)")


class Places(msgspec.Struct, frozen=True):
    """Where events come from. Parallel, shape (n,): codes of strings, -1 for what is not known.

    operator     the innermost operator
    frame        the innermost frame of the user's own code, as `train.py(12): main`
    module       the innermost nn.Module, as recorded
    annotation   the innermost annotation that neither marks steps nor is of torch's own loader
    """

    operator: Int64
    frame: Int64
    module: Int64
    annotation: Int64


class _Telling(msgspec.Struct, frozen=True):
    """Which nodes say where something comes from.

    annotation           shape (call tree,)
    own_frame, module    shape (frames,)
    """

    annotation: Bool
    own_frame: Bool
    module: Bool


@cached
def _telling(model: Model) -> _Telling:
    strings, tree, frames = model.trace.strings, model.structure.tree, model.structure.frames

    def named(codes: Int32, wanted: Callable[[str], bool]) -> Bool:
        found: Bool = strings.where(wanted, codes)[codes]
        return found

    return _Telling(
        annotation=(tree.category == Category.USER_ANNOTATION) & ~named(tree.name, _says_nothing),
        own_frame=named(frames.name, is_own_code),
        module=named(frames.name, lambda name: name.startswith(NN_MODULE)),
    )


def _says_nothing(name: str) -> bool:
    """Marks of steps, and what torch itself writes around loading."""
    return PROFILER_STEP.fullmatch(name) is not None or DATALOADER_NAME.search(name) is not None


def places_of(model: Model, rows: Int32) -> Places:
    """Where events come from: host events by where they are, device work by whom it belongs to, and what runs backward
    by the line of its forward.

    rows   shape (n,)
    """
    trace, structure = model.trace, model.structure
    at = _host_rows(model, rows)
    known = np.flatnonzero(at >= 0)
    operator, frame, module, annotation = (np.full(len(rows), -1, np.int64) for _ in range(4))
    track, start = trace.events.track[at[known]], trace.events.start[at[known]]
    telling, tree, frames = _telling(model), structure.tree, structure.frames
    node = structure.nesting.innermost(track, start).astype(np.int64) if len(tree) else np.full(len(known), -1)
    place = structure.frame_nesting.innermost(track, start).astype(np.int64) if len(frames) else np.full(len(known), -1)
    if len(tree):
        operator[known] = take_known(tree.name, nearest(tree.parent, tree.is_operator, node)).astype(np.int64)
        annotation[known] = take_known(tree.name, nearest(tree.parent, telling.annotation, node)).astype(np.int64)
    if len(frames):
        frame[known] = take_known(frames.name, nearest(frames.parent, telling.own_frame, place)).astype(np.int64)
        module[known] = take_known(frames.name, nearest(frames.parent, telling.module, place)).astype(np.int64)
    _from_call_stacks(model, at, frame)
    _from_forward(model, at, frame, module)
    return Places(operator, frame, module, annotation)


def _host_rows(model: Model, rows: Int32) -> Int64:
    """The host event that each event is, or that its device work belongs to; -1 where that is not known."""
    trace, structure = model.trace, model.structure
    at = rows.astype(np.int64)
    on_device = np.isin(trace.events.category[rows], DEVICE_WORK)
    if on_device.any():
        place = find(trace.device_work.row, rows[on_device])
        owner = take_known(structure.owners.row, place)
        called = take_known(trace.launches.row, take_known(structure.device_links.launch, place))
        at[on_device] = np.where(called >= 0, called, owner)
    return at


def _from_call_stacks(model: Model, at: Int64, frame: Int64) -> None:
    """Fill in lines from the texts that operators carry (`Call stack`, innermost frame first)."""
    trace, operators = model.trace, model.trace.operators
    if not bool((operators.call_stack > 0).any()):
        return
    missing = np.flatnonzero((frame < 0) & (at >= 0))
    tree = model.structure.tree
    node = model.structure.nesting.innermost(trace.events.track[at[missing]], trace.events.start[at[missing]]).astype(
        np.int64
    )
    operator = take_known(tree.operator, nearest(tree.parent, tree.is_operator, node)).astype(np.int64)
    stack = take_known(operators.call_stack, operator, missing=0)
    # the text itself is no string of the trace: the whole stack stands for it
    told = np.flatnonzero(trace.strings.where(_has_own_code, stack)[stack])
    frame[missing[told]] = -2 - stack[told]


def _has_own_code(stack: str) -> bool:
    return any(is_own_code(name) for name in stack.split(";"))


def _from_forward(model: Model, at: Int64, frame: Int64, module: Int64) -> None:
    """Fill in lines and modules of the backward pass, whose thread runs no Python: those of its forward operators."""
    structure, tree, frames = model.structure, model.structure.tree, model.structure.frames
    links, telling = structure.forward_backward, _telling(model)
    missing = np.flatnonzero((frame == -1) & (at >= 0))
    if not len(missing) or not len(links.backward) or not len(frames):
        return
    forward = np.full(len(tree), -1, np.int64)
    forward[links.backward] = links.forward
    events = model.trace.events
    node = structure.nesting.innermost(events.track[at[missing]], events.start[at[missing]])
    of = take_known(forward, nearest(tree.parent, forward >= 0, node))
    around = take_known(tree.frame, of)
    frame[missing] = take_known(frames.name, nearest(frames.parent, telling.own_frame, around))
    known = take_known(frames.name, nearest(frames.parent, telling.module, around))
    module[missing] = np.where(module[missing] >= 0, module[missing], known)


def common_place(model: Model, rows: Int32, weight: Int64 | None = None) -> Where | None:
    """The place that most of some events come from, by their duration or by a weight; None if nothing is known.

    rows     shape (n,): host events or device work
    weight   shape (n,), not negative; without it the durations
    """
    if not len(rows):
        return None
    found = places_of(model, rows)
    heavy = np.maximum(model.trace.events.duration[rows], 0) if weight is None else weight
    heavy = heavy + 1  # of events without a duration, their number counts
    columns = [found.operator, found.frame, found.module, found.annotation]
    groups = group([column - int(column.min()) for column in columns])
    total = np.bincount(groups.of, heavy, len(groups))
    best = int(np.argmax(total))
    first = int(groups.first[best])
    codes = [int(column[first]) for column in columns]
    if all(code == -1 for code in codes):
        return None
    return _where(model, codes, float(total[best] / total.sum()))


def is_known(model: Model, rows: Int32) -> Bool:
    """Shape (n,): of which events anything is known of where they come from."""
    found = places_of(model, rows)
    known: Bool = (found.operator != -1) | (found.frame != -1) | (found.module != -1) | (found.annotation != -1)
    return known


def running_at(model: Model, track: Int32, time: Int64) -> Int32:
    """Shape (n,): the innermost operator or annotation on each track at a time, else the innermost Python frame; -1."""
    structure = model.structure
    node = take_known(structure.tree.row, structure.nesting.innermost(track, time))
    if not len(structure.frames):
        return node
    frame = take_known(structure.frames.row, structure.frame_nesting.innermost(track, time))
    known = frame >= 0
    # the one that began last is inside of the other
    later = known & (take_known(model.trace.events.start, frame) > take_known(model.trace.events.start, node))
    return np.where(later | (node < 0), frame, node).astype(np.int32)


def groups_of_places(model: Model, rows: Int32) -> Int64:
    """Shape (n,): a number for each event, the same for those of one operator and line."""
    found = places_of(model, rows)
    return group([column - int(column.min(initial=0)) for column in (found.operator, found.frame)]).of.astype(np.int64)


def _where(model: Model, codes: list[int], share: float) -> Where:
    strings = model.trace.strings

    def text(code: int) -> str | None:
        return str(strings[code]) if code >= 0 else None

    operator, module, annotation = (text(code) for code in (codes[0], codes[2], codes[3]))
    frame = text(codes[1])
    if codes[1] <= -2:
        stack = str(strings[-2 - codes[1]])
        frame = next(name for name in stack.split(";") if is_own_code(name))
    parts = _FRAME.fullmatch(frame or "")
    file, line, function = (
        (_short(parts["file"]), int(parts["line"]), parts["function"]) if parts is not None else (None, None, None)
    )
    module = None if module is None else module_name(module)
    if annotation is not None and annotation.startswith(LIGHTNING_MODULE):
        module, annotation = module or module_name(annotation), None
    return Where(
        text=_in_words(operator, file, line, function, module, annotation),
        operator=operator,
        file=file,
        line=line,
        function=function,
        module=module,
        annotation=annotation,
        share=share,
        missing=None if file is not None or model.has_stacks else "with_stack",
    )


def _in_words(
    operator: str | None,
    file: str | None,
    line: int | None,
    function: str | None,
    module: str | None,
    annotation: str | None,
) -> str:
    words = [operator] if operator else []
    if file is not None:
        words.append(f"{'at ' if words else ''}{file}:{line} ({function})")
    if module is not None:
        words.append(f"in {module}" if words else module)
    if annotation is not None:
        words.append(f"in {annotation}" if words else annotation)
    return " ".join(words)


def _short(file: str) -> str:
    """The last two parts of a path: enough to find the file."""
    return "/".join(file.replace("\\", "/").split("/")[-2:])
