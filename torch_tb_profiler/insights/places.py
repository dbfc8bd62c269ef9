"""Where in the program events come from: operator, line of the user's own code, module, annotation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.rule import Where
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE, is_own_code
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.model.modules import LIGHTNING_MODULE, module_name
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: a place is named that holds so much of what it is the place of
LEAST_HELD = 0.5
#: the number of a module of its class, as in `Linear_3`
_INSTANCE = lazy_pattern(r"_\d{1,9}$")
#: the number of a module, a layer or a call: `Linear_3`, `h.11.attn`
_NUMBER = lazy_pattern(r"(?<![A-Za-z])\d{1,9}(?![A-Za-z])|(?<=_)\d{1,9}$")
#: frames around frames that are looked at
_DEEPEST = 64
_FRAME = lazy_pattern(r"(?P<file>.*)\((?P<line>\d{1,9})\): (?P<function>.*)")


class Places(msgspec.Struct, frozen=True):
    """Where events come from. Parallel, shape (n,): codes of strings, -1 for what is unknown.

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
    """Tell whether a name only marks a step, or is what torch itself writes around loading."""
    return PROFILER_STEP.fullmatch(name) is not None or DATALOADER_NAME.search(name) is not None


def places_of(model: Model, rows: Int32) -> Places:
    """Where events come from: host events by where they are, device work by whom it belongs to, and what runs backward
    by the line of its forward.

    rows   shape (n,)
    """
    trace, structure = model.trace, model.structure
    host_row = _host_rows(model, rows)
    known = np.flatnonzero(host_row >= 0)
    operator, frame, module, annotation = (np.full(len(rows), -1, np.int64) for _ in range(4))
    track, start = trace.events.track[host_row[known]], trace.events.start[host_row[known]]
    telling, tree, frames = _telling(model), structure.tree, structure.frames
    node = structure.nesting.innermost(track, start).astype(np.int64) if len(tree) else np.full(len(known), -1)
    place = structure.frame_nesting.innermost(track, start).astype(np.int64) if len(frames) else np.full(len(known), -1)
    if len(tree):
        operator[known] = take_known(tree.name, nearest(tree.parent, tree.is_operator, node)).astype(np.int64)
        annotation[known] = take_known(tree.name, nearest(tree.parent, telling.annotation, node)).astype(np.int64)
    if len(frames):
        frame[known] = take_known(frames.name, nearest(frames.parent, telling.own_frame, place)).astype(np.int64)
        module[known] = take_known(frames.name, nearest(frames.parent, telling.module, place)).astype(np.int64)
    _from_call_stacks(model, host_row, frame)
    _from_forward(model, host_row, frame, module)
    return Places(operator, frame, module, annotation)


def _host_rows(model: Model, rows: Int32) -> Int64:
    """Return the host event that each event is, or that its device work belongs to; -1 where unknown."""
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


def _from_forward(model: Model, host_row: Int64, frame: Int64, module: Int64) -> None:
    """Fill in lines and modules of the backward pass, whose thread runs no Python: those of its forward operators."""
    structure, tree, frames = model.structure, model.structure.tree, model.structure.frames
    links, telling = structure.forward_backward, _telling(model)
    missing = np.flatnonzero((frame == -1) & (host_row >= 0))
    if not len(missing) or not len(links.backward) or not len(frames):
        return
    forward = np.full(len(tree), -1, np.int64)
    forward[links.backward] = links.forward
    events = model.trace.events
    node = structure.nesting.innermost(events.track[host_row[missing]], events.start[host_row[missing]])
    of = take_known(forward, nearest(tree.parent, forward >= 0, node))
    around = take_known(tree.frame, of)
    frame[missing] = take_known(frames.name, nearest(frames.parent, telling.own_frame, around))
    known = take_known(frames.name, nearest(frames.parent, telling.module, around))
    module[missing] = np.where(module[missing] >= 0, module[missing], known)


def common_place(model: Model, rows: Int32, weight: Int64 | None = None) -> Where | None:
    """Find the innermost place that holds half of some events, by their duration or by a weight; None if there is none.

    Where no operator, line and module has so many of them, all modules of a class count together, then what is around
    them: functions, classes of modules, and at last what they have in common alone.

    rows     shape (n,): host events or device work
    weight   shape (n,), not negative; without it the durations
    """
    if not len(rows):
        return None
    places = places_of(model, rows)
    heavy = np.maximum(model.trace.events.duration[rows], 0) if weight is None else weight
    heavy = heavy + 1  # of events without a duration, their number counts
    operator, frame, annotation = places.operator, places.frame, places.annotation
    kind, nothing = _classes(model, places.module), np.full(len(rows), -1, np.int64)
    where = _holding(model, (operator, frame, places.module, annotation), heavy)
    for columns in (
        (operator, frame, kind, annotation),
        (operator, frame, kind, nothing),
        (nothing, frame, kind, nothing),
    ):
        where = where or _holding(model, columns, heavy, places.module)
    return (
        where
        or _holding(model, *_around(model, rows, heavy))
        or _holding(model, (nothing, nothing, nothing, annotation), heavy)
        or _holding(model, (operator, nothing, nothing, nothing), heavy)
    )


def _holding(model: Model, columns: Sequence[Int64], heavy: Int64, module: Int64 | None = None) -> Where | None:
    """Return the place with most of the weight, if that is enough and anything is known of it.

    columns    operator, frame, module and annotation, as in Places
    module     the modules, where `columns` tells them by their class
    """
    groups = group([column - int(column.min()) for column in columns])
    total = np.bincount(groups.inverse, heavy, len(groups))
    best = int(np.argmax(total))
    first = int(groups.first[best])
    codes = [int(column[first]) for column in columns]
    share = float(total[best] / total.sum())
    if share < LEAST_HELD or all(code == -1 for code in codes):
        return None
    return _where(model, codes, share, 0 if module is None else len(distinct(module[groups.inverse == best])))


def _classes(model: Model, module: Int64) -> Int64:
    """Shape (n,): of each module the code of the first in the trace that is of its class; -1 for none."""
    strings = model.trace.strings
    first: dict[str, int] = {}
    codes = distinct(module[module >= 0])
    of = {code: first.setdefault(class_of(str(strings[code])), code) for code in codes.tolist()}
    return np.array([of.get(code, -1) for code in module.tolist()], np.int64)


def class_of(module: str) -> str:
    """Return the class of a module by its name in the trace.

    >>> class_of("nn.Module: Linear_3")
    'Linear'
    """
    return _INSTANCE.sub("", module_name(module))


def without_numbers(name: str) -> str:
    """Replace the numbers of instances in a name, which count up from recording to recording.

    >>> without_numbers("h.11.attn"), without_numbers("Linear_3"), without_numbers("Conv2d")
    ('h.*.attn', 'Linear_*', 'Conv2d')
    """
    return _NUMBER.sub("*", name)


def _around(model: Model, rows: Int32, heavy: Int64) -> tuple[Sequence[Int64], Int64, Int64]:
    """Columns as of Places: the class of modules and the function of the program around each event that hold enough
    of all, the innermost ones; the weights, and the modules.
    """
    structure, events, at = model.structure, model.trace.events, _host_rows(model, rows)
    frames, telling, known = structure.frames, _telling(model), np.flatnonzero(at >= 0)
    columns = [np.full(len(rows), -1, np.int64) for _ in range(4)]
    module = np.full(len(rows), -1, np.int64)
    if not len(frames) or not len(known):
        return columns, heavy, module
    place = structure.frame_nesting.innermost(events.track[at[known]], events.start[at[known]])
    names = frames.name.astype(np.int64)
    kind = _classes(model, np.where(telling.module, names, -1))
    by_function = _innermost_holding(frames, telling.own_frame, names, place, heavy[known])
    by_class = _innermost_holding(frames, telling.module, kind, place, heavy[known])
    columns[1][known], columns[2][known] = take_known(names, by_function), take_known(kind, by_class)
    module[known] = take_known(names, by_class)
    both = (columns[1] >= 0) & (columns[2] >= 0)
    if (columns[1] >= 0).any() and 2 * int(heavy[both].sum()) < int(heavy.sum()):
        columns[2][:] = -1
    return columns, heavy, module


def _innermost_holding(frames: FrameTree, wanted: Bool, codes: Int64, place: Int32, heavy: Int64) -> Int64:
    """Find the innermost frames around the places such that one code holds enough of the weight.

    Returns shape (n,): -1 for places that it does not hold; all -1 where none does.

    wanted, codes   shape (frames,)
    place, heavy    shape (n,): a frame, -1 for none, and its weight
    """
    positions, held = [], []
    at = nearest(frames.parent, wanted, place)
    which = np.arange(len(place))
    for _ in range(_DEEPEST):
        which, at = which[at >= 0], at[at >= 0]
        if not len(at):
            break
        positions.append(which)
        held.append(at.astype(np.int64))
        at = nearest(frames.parent, wanted, frames.parent[at])
    innermost = np.full(len(place), -1, np.int64)
    if not positions:
        return innermost
    node, which = np.concatenate(held), np.concatenate(positions)
    pairs = group([codes[node], which])
    node, row = node[pairs.first], which[pairs.first]
    kinds = group([codes[node]])
    total = np.bincount(kinds.inverse, heavy[row], len(kinds))
    enough = np.flatnonzero(total >= LEAST_HELD * heavy.sum())
    if len(enough):
        best = enough[np.argmin(total[enough])]
        innermost[row[kinds.inverse == best]] = node[kinds.inverse == best]
    return innermost


def is_known(model: Model, rows: Int32) -> Bool:
    """Return shape (n,): whether anything is known of where each event comes from."""
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
    return group([column - int(column.min(initial=0)) for column in (found.operator, found.frame)]).inverse


def _modules_of(model: Model, name: str) -> int:
    """Count the modules of a class in the trace."""
    names = distinct(model.structure.frames.name[_telling(model).module])
    return sum(class_of(str(model.trace.strings[code])) == name for code in names.tolist())


def _where(model: Model, codes: list[int], share: float, modules: int) -> Where:
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
    named, of_class = None, 1
    if module is not None and modules and not module.startswith(LIGHTNING_MODULE):
        module = class_of(module)
        of_class = _modules_of(model, module)
        part = "all" if modules == of_class else f"{modules:,} of"
        named = f"{part} {of_class:,} modules of the class {module}" if of_class > 1 else None
    module = None if module is None else module_name(module)
    if annotation is not None and annotation.startswith(LIGHTNING_MODULE):
        module, annotation = module or module_name(annotation), None
    return Where(
        text=_in_words(operator, (file, line, function), named or module, annotation),
        operator=operator,
        file=file,
        line=line,
        function=function,
        module=module,
        annotation=annotation,
        share=share,
        missing=None if file is not None or model.has_stacks else "with_stack",
        modules=None if named is None else modules,
        modules_of_class=None if named is None else of_class,
    )


def _in_words(
    operator: str | None,
    frame: tuple[str | None, int | None, str | None],
    module: str | None,
    annotation: str | None,
) -> str:
    """Return a place as text. frame: file, line and function; a file of None is unknown."""
    file, line, function = frame
    words = [operator] if operator else []
    if file is not None:
        words.append(f"{'at ' if words else ''}{file}:{line} ({function})")
    if module is not None:
        words.append(f"in {module}" if words else module)
    if annotation is not None:
        words.append(f"in {annotation}" if words else annotation)
    return " ".join(words)


def _short(file: str) -> str:
    """Return the last two parts of a path: enough to find the file."""
    return "/".join(file.replace("\\", "/").split("/")[-2:])
