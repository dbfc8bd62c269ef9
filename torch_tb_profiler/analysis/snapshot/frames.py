"""Names of stacks, which of their frames is the user's, and which part of a step they belong to."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import is_own_code
from torch_tb_profiler.snapshot.schema import Frames, StackFrames, StackRanges

NO_STACK = "(no stack)"

_PYTHON = lazy_pattern(r"\.pyx?$|^<", re.IGNORECASE)
_CALLS_MODULES = lazy_pattern(r"(?:^|/)torch/nn/modules/module\.py$")
_OPTIMIZER = lazy_pattern(r"(?:^|/)torch/optim/")
#: frames of C++ that stand between an operator and the record of its allocation, in every stack: what walks the stack,
#: the allocator, and what makes a tensor of what it gives. They say nothing of who allocates.
_MACHINERY = (
    r"torch::unwind::",
    r"torch::CapturedTraceback::",
    r"\bgather(?:_with_cpp|_with_python)?\(",
    r"CachingAllocator\b",
    r"PluggableAllocator\b",
    r"DeviceCachingAllocator::",
    r"c10::(?:StorageImpl|Allocator|GetAllocator|alloc_|DataPtr)",
    r"at::detail::_?empty",
    r"at::native::_?empty",
    r"at::\(anonymous namespace\)::create_out\(",
    r"::set_output_(?:raw_strided|strided|contiguous)\(",
    r"at::TensorIteratorBase::",
    r"c10::impl::(?:wrap_kernel_functor|call_functor_with_args)",
)
_BACKWARD = lazy_pattern(r"torch::autograd::Engine|_engine_run_backward|torch::autograd::python::PythonEngine")


class StackNames(msgspec.Struct, frozen=True):
    """What is known of each stack; parallel, shape (stacks,), from `lines` on of other shapes.

    line        code of the innermost frame of the user's own code in `lines`, else of the innermost Python frame, else
                of the innermost frame that is none of the stack walk and the allocator
    module      code in `modules` of the innermost function that `nn.Module.__call__` called, -1 where there is none
    in_step     whether it is inside torch.optim
    in_backward whether the autograd engine called it
    lines       texts `file(line): function`
    modules     texts `file: function`: which line of it allocates does not matter
    labels      of each frame, the same
    is_python   of each frame, whether it is of Python
    is_own      of each frame, whether it is of the user's own code
    """

    line: Int64
    module: Int64
    in_step: Bool
    in_backward: Bool
    lines: tuple[str, ...]
    modules: tuple[str, ...]
    labels: tuple[str, ...]
    is_python: Bool
    is_own: Bool
    start: Int64
    depth: Int32
    frame: Int32

    def line_of(self, stack: int) -> str:
        return self.lines[int(self.line[stack])] if stack >= 0 else NO_STACK

    def frames_of(self, stack: int) -> list[str]:
        """Return the frames of a stack from the innermost outwards."""
        if stack < 0:
            return []
        begin = int(self.start[stack])
        return [self.labels[frame] for frame in self.frame[begin : begin + int(self.depth[stack])].tolist()]


@cached
def stack_names(model: Model) -> StackNames:
    strings = model.trace.strings
    frames, stacks = model.trace.table(Frames), model.trace.table(StackRanges)
    inside = model.trace.table(StackFrames).frame
    if (stacks.depth < 1).any() or not np.array_equal(np.append(stacks.start, len(inside)), running_sums(stacks.depth)):
        raise ValueError("the stacks are not made of these frames")
    names, files = strings.texts(frames.name), [file.replace("\\", "/") for file in strings.texts(frames.file)]
    labels = [
        f"{file}({line}): {name}" if file and file != "??" else name or "??"
        for name, file, line in zip(names, files, frames.line.tolist(), strict=True)
    ]
    is_python = np.array([_PYTHON.search(file) is not None for file in files], np.bool_)
    is_own = np.array([is_own_code(label) for label in labels], np.bool_) & is_python
    step = np.array([_OPTIMIZER.search(file) is not None for file in files], np.bool_)
    backward = np.array([_BACKWARD.search(name) is not None for name in names], np.bool_)
    place = np.arange(len(inside))
    many = len(inside)

    def first(of_frame: Bool) -> Int64:
        """Return the first place in each stack where `of_frame` holds; `many` or more where it nowhere does."""
        where = np.where(of_frame[inside], place, many)
        return np.minimum.reduceat(where, stacks.start) if len(stacks) else np.empty(0, np.int64)

    machinery = re.compile("|".join(_MACHINERY))
    is_telling = np.array([machinery.search(name) is None for name in names], np.bool_)
    own, python, telling = first(is_own), first(is_python), first(is_telling)
    chosen = np.where(own < many, own, np.where(python < many, python, np.where(telling < many, telling, stacks.start)))
    shown = inside[chosen].astype(np.int64) if len(stacks) else np.empty(0, np.int64)
    functions = [f"{file}: {name}" for name, file in zip(names, files, strict=True)]
    number = {text: code for code, text in enumerate(dict.fromkeys(functions))}
    function_of = np.array([number[text] for text in functions], np.int64)
    called = first_called(inside, stacks, is_python, np.array([_is_caller(file) for file in files], np.bool_))
    return StackNames(
        line=shown,
        module=np.where(called >= 0, function_of[inside[np.maximum(called, 0)]], -1) if len(stacks) else shown,
        in_step=first(step) < many,
        in_backward=first(backward) < many,
        lines=tuple(labels),
        modules=tuple(number),
        labels=tuple(labels),
        is_python=is_python,
        is_own=is_own,
        start=stacks.start,
        depth=stacks.depth,
        frame=inside,
    )


def _is_caller(file: str) -> bool:
    return _CALLS_MODULES.search(file) is not None


def first_called(inside: Int32, stacks: StackRanges, is_python: Bool, is_caller: Bool) -> Int64:
    """Return the first place in each stack of a Python frame whose caller, among Python frames, is a certain one.

    inside: the frame at each place; is_python, is_caller: of each frame. -1 where there is none.
    """
    places = np.flatnonzero(is_python[inside])
    of = np.repeat(np.arange(len(stacks)), stacks.depth)[places]
    caller = is_caller[inside[places]]
    is_called = np.zeros(len(places), np.bool_)
    is_called[:-1] = ~caller[:-1] & caller[1:] & (of[1:] == of[:-1])
    found = np.full(len(stacks), -1, np.int64)
    # from the last to the first, so that the first one of a stack stays
    found[of[is_called][::-1]] = places[is_called][::-1]
    return found
