"""What a snapshot does not say is unknown, and a moment is called the same wherever it is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.snapshots import Allocator, MiB, dumped, fragmented, stack
from tests.unit.test_snapshot_analysis import first, model_of
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.snapshot.alive import WhichTree, alive_rows, alive_stacks
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import AtMoment
from torch_tb_profiler.analysis.snapshot.oom import ooms
from torch_tb_profiler.analysis.snapshot.question import (
    SNAPSHOT_ALIVE,
    SNAPSHOT_TREE,
    WhichAlive,
)
from torch_tb_profiler.analysis.snapshot.segment_map import SNAPSHOT_SEGMENTS
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.words.sentences import memory_text


def full(device_free: Any) -> Allocator:
    """Memory ran out; `...`: the record does not say what the device had free."""
    allocator = Allocator(capacity=200 * MiB)
    assert allocator.malloc(160 * MiB, stack("kept")) is not None
    assert allocator.malloc(70 * MiB, stack("wanted")) is None
    record = allocator.records[-1]
    if device_free is ...:
        del record["device_free"]
    else:
        record["device_free"] = device_free
    return allocator


@pytest.mark.parametrize("device_free", [..., None, "much", -5])
def test_what_the_device_had_free_is_unknown_where_the_file_does_not_say(device_free: Any) -> None:
    model = model_of(dumped(full(device_free).snapshot()))
    (oom,) = ooms(model)
    assert (oom.device_free, oom.reason, oom.expandable_helps) == (None, "unknown", None)
    assert memory_text("oom", oom).startswith("Full, or a limit: 70 MiB was requested")
    assert memory_snapshot(model).findings == ()


def test_nothing_free_on_the_device_is_a_number() -> None:
    model = model_of(dumped(full(0).snapshot()))
    (oom,) = ooms(model)
    assert (oom.device_free, oom.reason, oom.expandable_helps) == (0, "full", False)
    assert [each.id for each in memory_snapshot(model).findings] == ["near_capacity"]


def test_other_reasons_do_not_need_it() -> None:
    allocator = fragmented()
    del allocator.records[-1]["device_free"]
    (oom,) = ooms(model_of(dumped(allocator.snapshot())))
    assert (oom.device_free, oom.reason, oom.expandable_helps) == (None, "fragmented", True)


@pytest.mark.parametrize(
    ("at", "kind"), [("start", "start"), ("peak", "peak"), ("oom", "oom"), ("end", "end"), ("7", "record")]
)
def test_a_moment_is_of_the_kind_that_was_asked_for(at: str, kind: str) -> None:
    subject = Subject(model_of(dumped(fragmented().snapshot())), "run", "worker", "1", 0, 1, lambda _: ())
    alive = SNAPSHOT_ALIVE.compute(subject, WhichAlive(at=at, since=at)).meta
    segments = SNAPSHOT_SEGMENTS.compute(subject, AtMoment(at=at))
    tree = SNAPSHOT_TREE.compute(subject, WhichTree(at=at)).meta
    assert alive.moment.kind == kind
    assert alive.moment == alive.since == segments.moment == tree.moment


_WALK = (
    "torch::unwind::unwind()",
    "torch::CapturedTraceback::gather(bool, bool, bool)",
    "torch::cuda::(anonymous namespace)::gather_with_cpp()",
    "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)",
    "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)",
)
_EMPTY = ("at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", "at::detail::empty_cuda(long)")


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ((*_WALK, "at::cuda::getNewWorkspace()", "at::_ops::mm::call()"), "at::cuda::getNewWorkspace()"),
        ((*_WALK, *_EMPTY, "at::native::div(at::Tensor const&)", "main"), "at::native::div(at::Tensor const&)"),
        (
            ("c10::xpu::XPUCachingAllocator::Native::malloc()", "c10::TensorImpl::~TensorImpl()"),
            "c10::TensorImpl::~TensorImpl()",
        ),
        (_WALK, "torch::unwind::unwind()"),
    ],
)
def test_a_stack_of_cpp_is_called_by_what_asked_the_allocator(names: tuple[str, ...], line: str) -> None:
    allocator = Allocator()
    allocator.malloc(MiB, [{"name": name, "filename": "??", "line": 0} for name in names])
    model = model_of(dumped(allocator.snapshot()))
    history, known = first(model), stack_names(model)
    assert alive_rows(history, known, history.last, "line").line == (line,)
    tree = alive_stacks(history, known, history.last, WhichTree(), 0.0)
    assert tree is not None
    assert tree.name == (line,)
